package protocol

import "hash/crc32"

// BodyCRC32 is the checksum brokers send in the header field bodyCrc32 of REGISTER_BROKER (103): the IEEE CRC-32 of the
// body as transmitted, without its top bit. The checksum of an absent body is 0, and a field of 0 asks for no check.
// Source: spec/namesrv.md §4.2.
func BodyCRC32(body []byte) int32 {
	return int32(crc32.ChecksumIEEE(body) & 0x7FFFFFFF)
}
