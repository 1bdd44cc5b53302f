package bench

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
)

// Change says in what a broker's registrations differ from each other.
type Change string

// What can change from one registration of a broker to its next.
const (
	ChangeNothing Change = "nothing" // the same bytes: what a broker sends every 30 s
	ChangeVersion Change = "version" // another data version, the same topics
)

// RegisterOptions say how brokers register over and over.
type RegisterOptions struct {
	Load    Load // Connections is taken from Brokers.Count: each broker has its own
	Brokers Brokers
	Change  Change
}

// registerSource registers one broker with its prepared bodies in turn.
type registerSource struct {
	rounds []template
	next   int
}

func (s *registerSource) appendFrame(dst []byte, opaque int32) []byte {
	t := s.rounds[s.next]
	if s.next++; s.next == len(s.rounds) {
		s.next = 0
	}
	return t.appendFrame(dst, opaque)
}

// RunRegister loads a NameServer with full registrations (103) of brokers, each over its own connection.
func RunRegister(ctx context.Context, o RegisterOptions) (*Report, error) {
	o.Brokers.kind = kindRegister
	o.Load.Connections = o.Brokers.Count
	if err := o.Brokers.check(); err != nil {
		return nil, err
	}
	if err := o.Load.check(); err != nil {
		return nil, err
	}
	rounds := 1
	switch o.Change {
	case ChangeNothing:
	case ChangeVersion:
		rounds = 2
	default:
		return nil, fmt.Errorf("change: %q is neither %q nor %q", o.Change, ChangeNothing, ChangeVersion)
	}
	sources := make([]frameSource, o.Brokers.Count)
	var g errgroup.Group
	g.SetLimit(4)
	for i := range sources {
		g.Go(func() error {
			src := &registerSource{}
			for round := range rounds {
				cmd, err := o.Brokers.register(i, round)
				if err != nil {
					return err
				}
				t, err := newTemplate(cmd)
				if err != nil {
					return fmt.Errorf("a registration of %d topics: %w", o.Brokers.Topics, err)
				}
				src.rounds = append(src.rounds, t)
			}
			sources[i] = src
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	r, err := drive(ctx, o.Load, sources)
	if r != nil {
		r.Kind = o.Brokers.kind.name
		r.Setup = map[string]int64{"brokers": int64(o.Brokers.Count), "topics": int64(o.Brokers.Topics)}
	}
	return r, err
}
