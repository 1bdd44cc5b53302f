// Package cmd is the command line: it turns flags into configuration, makes the logger, binds listeners and runs
// servers. One file per command; start reading at Run. It holds no state and knows no protocol.
package cmd
