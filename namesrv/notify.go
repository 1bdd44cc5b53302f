package namesrv

import (
	"context"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/mq-server/mq/protocol"
	"github.com/mq-server/mq/remoting"
)

// Bounds of the notices that wait to be sent. Beyond them notices are dropped: a broker also polls its
// group every second, so that a lost one costs a moment.
const (
	noticeQueue       = 1024            // notices of all groups
	noticeTargets     = 1024            // brokers that are being told at a time
	noticesPerTarget  = 8               // waiting for one broker; the oldest goes first
	noticeSendTimeout = 3 * time.Second // connecting and writing
)

// notice tells the brokers of a group that its lowest broker id has changed (905, one-way).
type notice struct {
	targets []string // brokerAddr
	header  protocol.NotifyMinBrokerIDChangeRequestHeader
}

// notifier sends notices. One goroutine owns all of its state; each broker that is told has a sender of its
// own while there is something for it, so that notices reach a broker in order and a dead one, or one
// whose address is nonsense, delays no other.
//
// Source: spec/namesrv.md §5.3, F23.
type notifier struct {
	queue chan notice
	send  func(ctx context.Context, addr string, cmd *protocol.Command) error // remoting.Client.Oneway
	log   zerolog.Logger
}

func newNotifier(client *remoting.Client, log zerolog.Logger) *notifier {
	return &notifier{queue: make(chan notice, noticeQueue), send: client.Oneway, log: log}
}

// offer queues a notice and never waits.
func (n *notifier) offer(note notice) {
	select {
	case n.queue <- note:
	default:
		n.log.Warn().Str("minBrokerAddr", note.header.MinBrokerAddr.Value).Msg("too many notices wait: one was dropped")
	}
}

// run sends until ctx ends.
func (n *notifier) run(ctx context.Context) error {
	var (
		senders errgroup.Group
		busy    = map[string][]notice{} // by broker that is being told: what it is told next
		free    = make(chan string)     // brokers whose sender has finished
	)
	start := func(addr string, note notice) {
		senders.Go(func() error {
			n.tell(ctx, addr, note)
			select {
			case free <- addr:
			case <-ctx.Done():
			}
			return nil
		})
	}
	for {
		select {
		case note := <-n.queue:
			for _, addr := range note.targets {
				next, ok := busy[addr]
				switch {
				case ok:
					busy[addr] = append(next[max(0, len(next)-noticesPerTarget+1):], note)
				case len(busy) < noticeTargets:
					busy[addr] = nil
					start(addr, note)
				default:
					n.log.Warn().Str("brokerAddr", addr).Msg("too many brokers to notify: one was left out")
				}
			}
		case addr := <-free:
			if next := busy[addr]; len(next) > 0 {
				busy[addr] = next[1:]
				start(addr, next[0])
			} else {
				delete(busy, addr)
			}
		case <-ctx.Done():
			return senders.Wait()
		}
	}
}

// tell sends one notice to one broker, and forgets it if that fails.
func (n *notifier) tell(ctx context.Context, addr string, note notice) {
	ctx, cancel := context.WithTimeout(ctx, noticeSendTimeout)
	defer cancel()
	err := n.send(ctx, addr, &protocol.Command{
		Code:     int32(protocol.ReqNotifyMinBrokerIDChange),
		Language: protocol.LanguageGo,
		Version:  protocol.CurrentVersion,
		Flag:     protocol.FlagOneway,
		Ext:      note.header.AppendExt(nil),
	})
	if err != nil {
		n.log.Debug().Err(err).Str("brokerAddr", addr).Msg("notice of the lowest broker id not sent")
	}
}
