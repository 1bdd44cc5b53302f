package conf

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The rows BrokerStartupTest, BrokerConfigTest and MixAllTest of spec/broker.md §10: the keys of the address server reach it, the
// defaults survive being written and read again, and the fast port is two below the other.
func TestBrokerStartup(t *testing.T) {
	domain, subgroup := mustLoadBroker(t, "").Broker().AddressServer()
	require.Equal(t, []string{"jmenv.tbsite.net", "nsaddr"}, []string{domain, subgroup})
	domain, subgroup = mustLoadBroker(t, "rmqAddressServerDomain=127.0.0.1\nrmqAddressServerSubGroup=other").Broker().AddressServer()
	require.Equal(t, []string{"127.0.0.1", "other"}, []string{domain, subgroup})

	first := mustLoadBroker(t, "")
	var file []byte
	for key, value := range keyValues(t, first.Text()) {
		if value != "" { // which 26 does not tell from absent
			file = AppendProperty(file, key, value)
		}
	}
	second := mustLoadBroker(t, string(file))
	require.Equal(t, first.Snapshot().Broker, second.Snapshot().Broker)
	require.Equal(t, first.Snapshot().Store, second.Snapshot().Store)
	require.Equal(t, first.Snapshot().Server, second.Snapshot().Server)
	require.Equal(t, second.Snapshot().Server.ListenPort-2, second.Snapshot().FastPort())
}
