package protocol

import "strconv"

// Version is the ordinal of a release in the original's list of releases, as every command header carries
// it. Peers send ordinals beyond the end of our list, and negative ones; compare with >=, never index. A
// larger number counts as the newest release, a negative one as the oldest.
//
// Source: spec/remoting.md §4 (MQVersion).
type Version int32

// Versions at which something changes, and the one we present ourselves as.
const (
	Version3_0_7Snapshot Version = 28  // clients understand 220 and 221 (reset offset, consumer status)
	Version3_0_11        Version = 37  // registration bodies are RegisterBrokerBody; below: topic configs alone
	Version3_1_8Snapshot Version = 62  // clients understand 307 (consumer running info)
	Version3_4_9         Version = 121 // maxReconsumeTimes of a message sent back is honoured
	Version4_1_0Snapshot Version = 232 // SQL filters
	Version4_9_3         Version = 399 // the last that leaves the unique-key query mark out of signatures
	Version4_9_4         Version = 401 // route answers in strict JSON
	Version5_0_0         Version = 413 // compressed registrations carry topic queue mappings
	Version5_3_1         Version = 475 // newer ones understand GO_AWAY
	Version5_5_0         Version = 513
	VersionHigher        Version = 612 // HIGHER_VERSION, the end of the list

	// CurrentVersion is the release that mq presents itself as, in headers and registrations.
	CurrentVersion = Version5_5_0
)

// The list has a snapshot before each release and is regular but for its begin: 16 names of 3.0.0, then
// 3.0.1 to 3.0.15, 3.1.0 to 3.2.9, and 3.3.1 to 3.9.9 without the .0 releases.
const (
	version3_0_1 Version = 17
	version3_1_0 Version = 47
	version3_3_1 Version = 87
	version4_0_0 Version = 213
)

var firstVersionNames = [...]string{
	"V3_0_0_SNAPSHOT", "V3_0_0_ALPHA1", "V3_0_0_BETA1", "V3_0_0_BETA2", "V3_0_0_BETA3", "V3_0_0_BETA4",
	"V3_0_0_BETA5", "V3_0_0_BETA6_SNAPSHOT", "V3_0_0_BETA6", "V3_0_0_BETA7_SNAPSHOT", "V3_0_0_BETA7",
	"V3_0_0_BETA8_SNAPSHOT", "V3_0_0_BETA8", "V3_0_0_BETA9_SNAPSHOT", "V3_0_0_BETA9", "V3_0_0_FINAL",
}

// String returns the original's name, such as "V5_5_0" or "V5_0_0_SNAPSHOT".
func (v Version) String() string {
	if v >= VersionHigher {
		return "HIGHER_VERSION"
	}
	v = max(v, 0)
	if int(v) < len(firstVersionNames) {
		return firstVersionNames[v]
	}
	suffix := ""
	if v%2 == 0 { // releases are odd here
		v++
		suffix = "_SNAPSHOT"
	}
	var major, minor, patch int
	switch {
	case v < version3_1_0:
		major, minor, patch = 3, 0, 1+int(v-version3_0_1)/2
	case v < version3_3_1:
		n := int(v-version3_1_0) / 2
		major, minor, patch = 3, 1+n/10, n%10
	case v < version4_0_0:
		n := int(v-version3_3_1) / 2
		major, minor, patch = 3, 3+n/9, 1+n%9
	default:
		n := int(v-version4_0_0) / 2
		major, minor, patch = 4+n/100, n/10%10, n%10
	}
	return "V" + strconv.Itoa(major) + "_" + strconv.Itoa(minor) + "_" + strconv.Itoa(patch) + suffix
}
