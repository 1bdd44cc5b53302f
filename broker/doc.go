// Package broker is the broker: topics, consumer groups, clients, and the registration of all of it with the NameServers.
package broker
