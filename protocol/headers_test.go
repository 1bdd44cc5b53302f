package protocol

import (
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

type header interface {
	HeaderEncoder
	Decode(Ext) error
}

// headerCase is one typed header.
type headerCase struct {
	code     RequestCode
	response bool
	full     header   // every field has a value that is not its zero
	wire     Ext      // what full is on the wire
	required []string // wire names without which it is refused
}

var headerCases = slices.Concat(namesrvHeaderCases, brokerHeaderCases)

var namesrvHeaderCases = []headerCase{
	{
		code: ReqPutKVConfig, full: &PutKVConfigRequestHeader{"ns", "k", "v"},
		wire: Ext{{"namespace", "ns"}, {"key", "k"}, {"value", "v"}}, required: []string{"namespace", "key", "value"},
	},
	{
		code: ReqGetKVConfig, full: &GetKVConfigRequestHeader{Some("ns"), Some("k")},
		wire: Ext{{"namespace", "ns"}, {"key", "k"}},
	},
	{code: ReqGetKVConfig, response: true, full: &GetKVConfigResponseHeader{Some("v")}, wire: Ext{{"value", "v"}}},
	{
		code: ReqDeleteKVConfig, full: &DeleteKVConfigRequestHeader{Some("ns"), Some("k")},
		wire: Ext{{"namespace", "ns"}, {"key", "k"}},
	},
	{code: ReqGetKVListByNamespace, full: &GetKVListByNamespaceRequestHeader{Some("ns")}, wire: Ext{{"namespace", "ns"}}},
	{
		code: ReqRegisterBroker,
		full: &RegisterBrokerRequestHeader{
			BrokerName: "b", BrokerAddr: "10.0.0.1:10911", ClusterName: "c", BrokerID: 1, HAServerAddr: Some("10.0.0.1:10912"),
			HeartbeatTimeoutMillis: Some(int64(120000)), EnableActingMaster: Some(false), Compressed: true, BodyCRC32: 1003132714,
			ZoneName: Some("z"),
		},
		wire: Ext{
			{"brokerName", "b"}, {"brokerAddr", "10.0.0.1:10911"}, {"clusterName", "c"}, {"brokerId", "1"},
			{"haServerAddr", "10.0.0.1:10912"}, {"heartbeatTimeoutMillis", "120000"}, {"enableActingMaster", "false"},
			{"compressed", "true"}, {"bodyCrc32", "1003132714"}, {"__ZONE_NAME", "z"},
		},
		required: []string{"brokerName", "brokerAddr", "clusterName", "brokerId"},
	},
	{
		code: ReqRegisterBroker, response: true, full: &RegisterBrokerResponseHeader{Some("10.0.0.1:10912"), Some("10.0.0.1:10911")},
		wire: Ext{{"haServerAddr", "10.0.0.1:10912"}, {"masterAddr", "10.0.0.1:10911"}},
	},
	{
		code: ReqUnregisterBroker, full: &UnRegisterBrokerRequestHeader{"b", "10.0.0.1:10911", "c", 1},
		wire:     Ext{{"brokerName", "b"}, {"brokerAddr", "10.0.0.1:10911"}, {"clusterName", "c"}, {"brokerId", "1"}},
		required: []string{"brokerName", "brokerAddr", "clusterName", "brokerId"},
	},
	{
		code: ReqGetRouteInfoByTopic, full: &GetRouteInfoRequestHeader{Some("t"), true, true, "z"},
		wire: Ext{{"topic", "t"}, {"acceptStandardJsonOnly", "true"}, {"__ZONE_MODE", "true"}, {"__ZONE_NAME", "z"}},
	},
	{
		code: ReqGetBrokerClusterInfo, full: &GetBrokerClusterInfoRequestHeader{true},
		wire: Ext{{"acceptStandardJsonOnly", "true"}},
	},
	{code: ReqWipeWritePermOfBroker, full: &WipeWritePermOfBrokerRequestHeader{Some("b")}, wire: Ext{{"brokerName", "b"}}},
	{code: ReqWipeWritePermOfBroker, response: true, full: &WipeWritePermOfBrokerResponseHeader{2}, wire: Ext{{"wipeTopicCount", "2"}}},
	{
		code: ReqDeleteTopicInNamesrv, full: &DeleteTopicFromNamesrvRequestHeader{"t", "c"},
		wire: Ext{{"topic", "t"}, {"clusterName", "c"}}, required: []string{"topic"},
	},
	{
		code: ReqRegisterTopicInNamesrv, full: &RegisterTopicRequestHeader{"t"},
		wire: Ext{{"topic", "t"}}, required: []string{"topic"},
	},
	{code: ReqGetTopicsByCluster, full: &GetTopicsByClusterRequestHeader{Some("c")}, wire: Ext{{"cluster", "c"}}},
	{
		code: ReqQueryDataVersion, full: &QueryDataVersionRequestHeader{"10.0.0.1:10911", "c", Some("b"), Some(int64(1))},
		wire:     Ext{{"brokerName", "b"}, {"brokerAddr", "10.0.0.1:10911"}, {"clusterName", "c"}, {"brokerId", "1"}},
		required: []string{"brokerAddr", "clusterName"},
	},
	{code: ReqQueryDataVersion, response: true, full: &QueryDataVersionResponseHeader{true}, wire: Ext{{"changed", "true"}}},
	{code: ReqAddWritePermOfBroker, full: &AddWritePermOfBrokerRequestHeader{Some("b")}, wire: Ext{{"brokerName", "b"}}},
	{code: ReqAddWritePermOfBroker, response: true, full: &AddWritePermOfBrokerResponseHeader{2}, wire: Ext{{"addTopicCount", "2"}}},
	{
		code: ReqGetBrokerMemberGroup, full: &GetBrokerMemberGroupRequestHeader{Some("c"), Some("b"), true},
		wire: Ext{{"clusterName", "c"}, {"brokerName", "b"}, {"acceptStandardJsonOnly", "true"}},
	},
	{
		code: ReqBrokerHeartbeat,
		full: &BrokerHeartbeatRequestHeader{
			"c", "10.0.0.1:10911", Some("b"), Some(int64(1)), Some(int32(2)), Some(int64(3)), Some(int64(4)), Some(int64(5)), Some(int32(6)),
		},
		wire: Ext{
			{"clusterName", "c"}, {"brokerAddr", "10.0.0.1:10911"}, {"brokerName", "b"}, {"brokerId", "1"}, {"epoch", "2"}, {"maxOffset", "3"},
			{"confirmOffset", "4"}, {"heartbeatTimeoutMills", "5"}, {"electionPriority", "6"},
		},
		required: []string{"clusterName", "brokerAddr"},
	},
	{
		code: ReqNotifyMinBrokerIDChange,
		full: &NotifyMinBrokerIDChangeRequestHeader{Some(int64(1)), Some("b"), Some("10.0.0.2:1"), Some("10.0.0.1:1"), Some("10.0.0.2:2")},
		wire: Ext{
			{"brokerName", "b"}, {"offlineBrokerAddr", "10.0.0.1:1"}, {"haBrokerAddr", "10.0.0.2:2"}, {"minBrokerAddr", "10.0.0.2:1"},
			{"minBrokerId", "1"},
		},
	},
}

func (c headerCase) name() string {
	if c.response {
		return c.code.String() + " response"
	}
	return c.code.String()
}

// blank returns a new header of the same type.
func (c headerCase) blank() header {
	return reflect.New(reflect.TypeOf(c.full).Elem()).Interface().(header)
}

// minimal returns the required fields.
func (c headerCase) minimal() Ext {
	ext := Ext{}
	for _, key := range c.required {
		value, _ := c.wire.Get(key)
		ext = append(ext, Field{key, value})
	}
	return ext
}

func TestHeadersOnTheWire(t *testing.T) {
	for _, c := range headerCases {
		t.Run(c.name(), func(t *testing.T) {
			require.Equal(t, c.wire, c.full.AppendExt(nil))
			got := c.blank()
			require.NoError(t, got.Decode(c.wire))
			require.Equal(t, c.full, got)

			before := Field{"before", "x"}
			require.Equal(t, append(Ext{before}, c.wire...), c.full.AppendExt(Ext{before}))
		})
	}
}

func TestHeadersNameTheMissingField(t *testing.T) {
	for _, c := range headerCases {
		for _, key := range c.required {
			t.Run(c.name()+" without "+key, func(t *testing.T) {
				err := c.blank().Decode(append(Ext{}, c.wire...).without(key))
				if c.code == ReqPutKVConfig && key != "value" {
					require.EqualError(t, err, "namespace or key is null")
					return
				}
				require.EqualError(t, err, "the field "+key+" is missing")
			})
		}
		if len(c.required) > 0 {
			require.Error(t, c.blank().Decode(nil), c.name())
			require.Error(t, c.blank().Decode(Ext{}), c.name())
		} else {
			require.NoError(t, c.blank().Decode(nil), c.name())
		}
	}
}

func TestHeadersRefuseBadRequiredNumbers(t *testing.T) {
	for _, c := range headerCases {
		for _, key := range c.required {
			if key != "brokerId" {
				continue
			}
			for value, reason := range map[string]string{"zz": "not an integer", "": "not an integer", "9223372036854775808": "out of range"} {
				err := c.blank().Decode(append(append(Ext{}, c.wire...), Field{key, value}))
				require.EqualError(t, err, `brokerId: `+reason+`: "`+value+`"`, c.name())
			}
		}
	}
}

// Absent optional fields have their defaults, unknown fields and malformed optional numbers do no harm, whoever sends them: peers of
// other releases.
func TestN62HeadersOfOtherReleases(t *testing.T) {
	for _, c := range headerCases {
		t.Run(c.name(), func(t *testing.T) {
			minimal := c.blank()
			require.NoError(t, minimal.Decode(c.minimal()))
			again := c.blank()
			require.NoError(t, again.Decode(minimal.AppendExt(nil)))
			require.Equal(t, minimal, again)

			over := append(Ext{{"ns", "x"}, {"nsd", "true"}, {"bname", "x"}, {"oway", "true"}, {"lo", "x"}, {"aFieldOfTomorrow", "{}"}}, c.wire...)
			got := c.blank()
			require.NoError(t, got.Decode(over))
			require.Equal(t, c.full, got)

			for i, f := range c.wire { // what is no number reads as what is absent
				if _, wrong := parseInteger(f.Value, 64); wrong != "" || slices.Contains(c.required, f.Key) {
					continue
				}
				bad := append(Ext{}, c.wire...)
				bad[i].Value = "1.5"
				withBad, without := c.blank(), c.blank()
				require.NoError(t, withBad.Decode(bad), f.Key)
				require.NoError(t, without.Decode(bad.without(f.Key)), f.Key)
				require.Equal(t, without, withBad, f.Key)
			}
		})
	}

	var register RegisterBrokerRequestHeader
	require.NoError(t, register.Decode(Ext{{"brokerName", "b"}, {"brokerAddr", "a"}, {"clusterName", "c"}, {"brokerId", "0"}}))
	require.Equal(t, RegisterBrokerRequestHeader{BrokerName: "b", BrokerAddr: "a", ClusterName: "c"}, register)

	var reply RegisterBrokerResponseHeader
	require.NoError(t, reply.Decode(nil))
	require.Equal(t, RegisterBrokerResponseHeader{}, reply)

	var query QueryDataVersionResponseHeader
	require.NoError(t, query.Decode(nil))
	require.True(t, query.Changed, "without an answer the broker registers")
	require.NoError(t, query.Decode(Ext{{"changed", "false"}}))
	require.False(t, query.Changed)
}

// A header that is decoded into keeps nothing of the one before.
func TestHeadersForgetTheLastDecode(t *testing.T) {
	for _, c := range headerCases {
		got, want := c.blank(), c.blank()
		require.NoError(t, got.Decode(c.wire), c.name())
		require.NoError(t, got.Decode(c.minimal()), c.name())
		require.NoError(t, want.Decode(c.minimal()), c.name())
		require.Equal(t, want, got, c.name())
	}
}

// A response that has a header class has extFields, if only {} (spec/namesrv.md §4.0).
func TestEmptyHeaders(t *testing.T) {
	for _, h := range []HeaderEncoder{&RegisterBrokerResponseHeader{}, &GetKVConfigResponseHeader{}} {
		ext := h.AppendExt(nil)
		require.NotNil(t, ext)
		require.Empty(t, ext)
	}
	require.Nil(t, new(NoHeader).AppendExt(nil))
	require.NoError(t, new(NoHeader).Decode(Ext{{"x", "y"}}))
	require.Nil(t, new(GetBrokerClusterInfoRequestHeader).AppendExt(nil))
}
