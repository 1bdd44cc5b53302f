// Package protocol is the vocabulary of RocketMQ's remoting protocol: frames, commands, request and response codes,
// versions, typed headers and bodies, and the dialect of JSON that they are written in.
//
// It holds pure data and pure functions: no sockets, goroutines, clocks, logs or configuration, and no state but
// constant tables. Everything may be used from any goroutine; values are the caller's.
//
// Start reading at Command, which DecodeCommand makes of a frame and AppendFrame makes into one. Its Ext holds the
// fields of the header that a code has; ReadExt and the …RequestHeader and …ResponseHeader types give them names and
// types. Its Body holds, for most codes, JSON: the Decode… functions read it and the AppendJSON methods write it.
//
// The names of the files say what is in them:
//
//	command.go, frame.go, codec_*.go        a command, its frame, the two encodings of its header
//	codes.go, version.go, language.go       the constants of a header
//	ext.go, headers_*.go                    extFields, and what each code has in them
//	body.go, body_*.go                      bodies: what they share, then one file for each subject
//	file_*.go                               files of a broker, and what of them cannot be used
//	json_*.go                               the dialect of JSON: reader, writer, the form of files
//
// headers_broker_*.go has what only brokers are asked, headers_{route,register,kv}.go what NameServers are.
//
// Encoders append to a slice that the caller owns. Decoders check every length against what is there before they use
// it, and say whether their result aliases the input. Limits: MaxFrame, MaxExtFields, and those beside the decoders
// of bodies.
//
// Follows release 5.5.0 in what it writes, and accepts what the releases from 3.x on and 5.5.0 accept.
// Known differences, all on purpose:
//   - a header that the wire gives no opaque has opaque 0; the original takes the next number of its own
//   - more than MaxExtFields extFields are refused
//   - a JSON header with any invalid UTF-8 is refused; 5.5.0 replaces some such bytes by U+FFFD
//   - required header fields are required; the original logs and goes on with null
package protocol
