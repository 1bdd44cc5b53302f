package protocol

import "strconv"

// Version is the ordinal of a release in the original's MQVersion list, as every command header carries it.
// Peers send ordinals newer than our list, and some send negative ones: compare with >= and never index
// with it.
//
// Source: spec/remoting.md §4.
type Version int32

// Versions at which some behaviour changes, and the one we present ourselves as.
const (
	Version3_0_7Snapshot Version = 28  // understands 220 and 221 (reset offset, consumer status)
	Version3_0_11        Version = 37  // registration bodies are RegisterBrokerBody; below: topic configs alone
	Version3_1_8Snapshot Version = 62  // understands 307 (consumer running info)
	Version3_4_9         Version = 121 // maxReconsumeTimes of send-back is honoured
	Version4_1_0Snapshot Version = 232 // SQL filters
	Version4_9_3         Version = 399 // last one whose signatures leave out the unique-key query mark
	Version4_9_4         Version = 401 // route answers in strict JSON
	Version5_0_0         Version = 413 // compressed registrations carry topic queue mappings
	Version5_3_1         Version = 475 // newer ones understand GO_AWAY
	Version5_3_2         Version = 477
	Version5_5_0         Version = 513
	VersionHigher        Version = 612 // HIGHER_VERSION, the last entry of the list

	// CurrentVersion is the release that mq presents itself as, in headers and registrations.
	CurrentVersion = Version5_5_0
)

var _ = strconv.Itoa
