package namesrv

// WIPE_WRITE_PERM_OF_BROKER (205), all versions; ADD_WRITE_PERM_OF_BROKER (327), 4.9.2 and later;
// DELETE_TOPIC_IN_NAMESRV (216), all versions.
//
//   - Wiping is a mark over a broker name. It holds for whatever the group registers, and ends with 327 or when the
//     group is gone. Then permissions are what the brokers say (F24: the original sets 6, and any new data version
//     undoes a wipe).
//   - A deleted topic comes back with the next registration of a broker that has it, as in the original.

// wipeWritePerm takes write permission from all topics of a group and returns their number, 0 if it is unknown.
func (t *routeTable) wipeWritePerm(brokerName string) int {
	t.writer.Lock()
	defer t.writer.Unlock()
	g := t.groups[brokerName]
	if g == nil {
		return 0
	}
	if !g.wiped {
		t.mu.Lock()
		t.answers.takeBack(g.topics...)
		g.wiped = true
		t.mu.Unlock()
	}
	return len(g.topics)
}

// addWritePerm gives back what wipeWritePerm took, and also what the group lost with its master. It returns the number
// of the group's topics, 0 if it is unknown.
func (t *routeTable) addWritePerm(brokerName string) int {
	t.writer.Lock()
	defer t.writer.Unlock()
	g := t.groups[brokerName]
	if g == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answers.takeBack(g.topics...)
	g.wiped = false
	for _, e := range g.topics {
		e.queues.get(g).withheld = false
	}
	return len(g.topics)
}

// deleteTopic removes a topic from the groups of a cluster, from all groups if cluster is empty. It reports whether any
// of them had it.
func (t *routeTable) deleteTopic(topic, cluster string) bool {
	t.writer.Lock()
	defer t.writer.Unlock()
	e, ok := t.topics.Load(topic)
	if !ok {
		return false
	}
	var groups []*brokerGroup
	for q := range e.queues.all() {
		if cluster == "" || q.group.cluster == cluster {
			groups = append(groups, q.group)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answers.takeBack(e)
	for _, g := range groups {
		t.take(e, g)
		g.forgetPrints() // so that the next registration brings it back
	}
	return len(groups) > 0
}
