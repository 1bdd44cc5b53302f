// Package conf holds the configuration: which keys there are, where their values come from, and how they change
// while a server runs.
//
// Start reading at Keys, the table of all keys, and at Load, which merges the sources in the order that
// Sources gives and returns a Store. Store.Snapshot is what servers read: an immutable Config, replaced as a whole
// by Store.Update, so that a request sees one configuration and takes no lock. Store.Update first writes the file,
// then replaces the Config.
//
// Properties texts are read exactly as java.util.Properties reads them and written so that either reader gets
// back what was written (ParseProperties, AppendProperty). ReplaceFile is how files are replaced here and for the
// KV configuration: a crash at any point leaves the old or the new content.
//
// Not here: opening anything but these files, starting anything, and what a key does.
//
// Differences from the original, on purpose: values are trimmed, and a value that is not what its key asks for
// stops the start or refuses the update (spec/namesrv.md §14, F19); what is kept reads back equal (F17); without
// -c updates are read again at the next start (F18); secrets are masked; an unknown tls.server.mode is a mistake
// rather than permissive; TLS keys cannot be updated at run time.
package conf
