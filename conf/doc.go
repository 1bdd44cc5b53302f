// Package conf holds the configuration: which keys there are, where their values come from, and how they change
// while a server runs.
//
// Start reading at Keys and BrokerKeys, the tables of all keys, and at Load and LoadBroker, which merge the sources in
// the order that Sources gives and return a Store or a BrokerStore. Store.Snapshot is what servers read: an immutable
// Config, replaced as a whole by an update, so that a request sees one configuration and takes no lock. An update
// first writes the file, then replaces the Config. A schema says what tells the two servers' configurations apart;
// everything else is one piece of code.
//
// Properties texts are read exactly as java.util.Properties reads them and written so that either reader gets
// back what was written (ParseProperties, AppendProperty). ReplaceFile is how files are replaced here and for the
// other files of the servers: a crash at any point leaves the old or the new content. ParseServers, HostPort and
// DetectAddress are the rules for addresses.
//
// Not here: opening anything but these files, starting anything, and what a key does.
//
// Differences from the original, on purpose: values are trimmed, and a value that is not what its key asks for
// stops the start or refuses the update (spec/namesrv.md §14, F19); what is kept reads back equal (F17); without
// -c updates are read again at the next start (F18), and so are those in a broker's brokerConfigPath; secrets are
// masked; an unknown tls.server.mode is a mistake rather than permissive; TLS keys cannot be updated at run time.
// Of the broker: updates of unknown keys are refused, and so are those that would have no effect, of a master's brokerId;
// modes that are not here stop the start; defaults that depend on the machine are not written into the file
// (spec/broker.md appendix B); a broker that listens at one host tells that host's address.
package conf
