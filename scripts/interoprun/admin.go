package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// adminScript are the commands that must print the same with either NameServer. NS, CLUSTER and BROKER4 stand for what they say,
// MADE for a topic of each line.
var adminScript = [][]string{
	{"updateTopic", "-n", "NS", "-c", "CLUSTER", "-t", "MADE", "-r", "6", "-w", "5"},
	{"topicRoute", "-n", "NS", "-t", "MADE"},
	{"topicClusterList", "-n", "NS", "-t", "MADE"},
	{"topicList", "-n", "NS"},
	{"topicList", "-n", "NS", "-c"},
	{"clusterList", "-n", "NS"},
	{"clusterList", "-n", "NS", "-m"},
	{"wipeWritePerm", "-n", "NS", "-b", "BROKER4"},
	{"topicRoute", "-n", "NS", "-t", "MADE"},
	{"addWritePerm", "-n", "NS", "-b", "BROKER4"},
	{"topicRoute", "-n", "NS", "-t", "MADE"},
	{"wipeWritePerm", "-n", "NS", "-b", "nobody"},
	{"updateOrderConf", "-n", "NS", "-t", "MADE", "-v", "broker-4:4;broker-5:4", "-m", "put"},
	{"updateOrderConf", "-n", "NS", "-t", "MADE", "-m", "get"},
	{"topicRoute", "-n", "NS", "-t", "MADE"},
	{"updateOrderConf", "-n", "NS", "-t", "MADE", "-m", "delete"},
	{"updateKvConfig", "-n", "NS", "-s", "Space", "-k", "key", "-v", "value"},
	{"deleteKvConfig", "-n", "NS", "-s", "Space", "-k", "key"},
	{"getNamesrvConfig", "-n", "NS"},
	{"updateNamesrvConfig", "-n", "NS", "-k", "waitSecondsForService", "-v", "46"},
	{"getNamesrvConfig", "-n", "NS"},
	{"updateNamesrvConfig", "-n", "NS", "-k", "configStorePath", "-v", "/tmp/elsewhere"},
	{"updateNamesrvConfig", "-n", "NS", "-k", "waitSecondsForService", "-v", "45"},
	{"deleteTopic", "-n", "NS", "-c", "CLUSTER", "-t", "MADE"},
	{"topicRoute", "-n", "NS", "-t", "MADE"},
	{"topicList", "-n", "NS"},
}

// admin is mqadmin of a line.
type admin struct {
	w    *world
	line string
}

// open starts the program, which runs one command after the other.
func (a *admin) open() (*process, error) {
	return a.w.java("mqadmin-"+a.line[:1], a.line, true, "Admin")
}

// command runs a command, its words separated by tabs, in the program of admin.open and returns its output.
func (p *process) command(words string) ([]string, error) {
	out, err := p.ask(words, func(s string) bool { return s == "### done" }, time.Minute)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, strings.Join(out, "\n"))
	}
	return out[:len(out)-1], nil
}

// run runs commands in one process and returns their masked outputs. After each it calls then, if given.
func (a *admin) run(then func(i int) error, commands ...string) ([]string, error) {
	p, err := a.open()
	if err != nil {
		return nil, err
	}
	defer p.stop(time.Second)
	var outputs []string
	for i, c := range commands {
		out, err := p.command(c)
		if err != nil {
			return outputs, err
		}
		outputs = append(outputs, a.w.mask(out))
		if then != nil {
			if err := then(i); err != nil {
				return outputs, err
			}
		}
	}
	return outputs, nil
}

// runScript runs adminScript. Brokers tell the NameServer about a new or changed topic without being waited for: so do we wait.
func (a *admin) runScript() ([]string, error) {
	var commands []string
	made := "Made" + a.line[:1]
	words := strings.NewReplacer("NS", a.w.addr, "CLUSTER", cluster, "BROKER4", brokerName(lines[0]), "MADE", made)
	for _, c := range adminScript {
		replaced := []string{c[0]}
		for _, word := range c[1:] {
			replaced = append(replaced, words.Replace(word))
		}
		commands = append(commands, strings.Join(replaced, "\t"))
	}
	var took []time.Duration
	begin := time.Now()
	outputs, err := a.run(func(i int) error {
		took = append(took, time.Since(begin))
		begin = time.Now()
		if adminScript[i][0] == "updateTopic" {
			return within(20*time.Second, func() error { return a.w.hasRoute(made) })
		}
		return nil
	}, commands...)
	var all strings.Builder // for whoever looks into the kept directory
	for i, out := range outputs {
		fmt.Fprintf(&all, "$ %s   (%s)\n%s\n\n", strings.Join(adminScript[i], " "), took[i].Round(time.Millisecond), out)
	}
	return outputs, errors.Join(err, os.WriteFile(filepath.Join(a.w.dir, "mqadmin-"+a.line+".txt"), []byte(all.String()), 0o644))
}

// createTopic creates a topic on both brokers and waits for its route.
func (a *admin) createTopic(topic string) error {
	out, err := a.run(nil, strings.Join([]string{"updateTopic", "-n", a.w.addr, "-c", cluster, "-t", topic, "-r", "4", "-w", "4"}, "\t"))
	if err != nil {
		return err
	}
	if err := within(20*time.Second, func() error { return a.w.hasRoute(topic) }); err != nil {
		return fmt.Errorf("%w; mqadmin said: %s", err, out[0])
	}
	return nil
}

var (
	addrText   = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	blanks     = regexp.MustCompile(`[ \t]+`)
	anyBroker  = regexp.MustCompile(`"brokerAddr":"[^"]*"`)
	ownSetting = regexp.MustCompile(`^(listenPort|kvConfigPath|configStorePath|rocketmqHome)\s*=.*$`)
)

func anyAddr(body string) string { return anyBroker.ReplaceAllLiteralString(body, `"brokerAddr":""`) }

// mask takes out of an output what differs from run to run.
func (w *world) mask(out []string) string {
	names := map[string]string{w.addr: "NAMESERVER"}
	for line, port := range w.ports {
		names["127.0.0.1:"+strconv.Itoa(port)] = brokerName(line)
	}
	return mask(out, names)
}

// mask takes out of an output what differs from run to run: ports, for names, paths, load figures, and the order, for Java's is
// that of hash tables.
func mask(out []string, names map[string]string) string {
	var text []string
	for _, s := range out {
		s = addrText.ReplaceAllStringFunc(s, func(addr string) string {
			if name, ok := names[addr]; ok {
				return "ADDR-OF-" + name
			}
			return addr
		})
		s = strings.TrimSuffix(strings.TrimSpace(blanks.ReplaceAllString(s, " ")), ",")
		s = ownSetting.ReplaceAllString(s, "$1=*")
		if f := strings.Fields(s); len(f) > 5 && f[0] == cluster && strings.HasPrefix(f[3], "ADDR-OF-") {
			s = strings.Join(f[:5], " ") // what follows are load, ages and disk space
		} else if len(f) == 6 && f[0] == cluster {
			s = strings.Join(f[:2], " ") // clusterList -m: messages of today and yesterday
		}
		if s != "" {
			text = append(text, s)
		}
	}
	slices.Sort(text)
	return strings.Join(text, "\n")
}

// sameText shows the lines that only one of two outputs has.
func sameText(java, mq string) error {
	if java == mq {
		return nil
	}
	a, b := strings.Split(java, "\n"), strings.Split(mq, "\n")
	var diff []string
	for _, s := range a {
		if !slices.Contains(b, s) {
			diff = append(diff, "Java only: "+s)
		}
	}
	for _, s := range b {
		if !slices.Contains(a, s) {
			diff = append(diff, "mq only:   "+s)
		}
	}
	if diff == nil {
		diff = []string{fmt.Sprintf("the same lines, but %d and %d of them", len(a), len(b))}
	}
	return fmt.Errorf("the outputs differ\n%s", strings.Join(diff, "\n"))
}
