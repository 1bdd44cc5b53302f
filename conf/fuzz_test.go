package conf

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzBrokerUpdate checks of any body: an update that is refused changes nothing, and one that succeeds reads back
// equal after a restart.
func FuzzBrokerUpdate(f *testing.F) {
	for _, body := range []string{
		"brokerPermission=4\nnamesrvAddr=a:1;b:2", "regionId=a\\tb\\u4e2d\\\\", "brokerRole=SLAVE\nbrokerId=1", "listenPort = 1 \nhaListenPort:0",
		"setBrokerConfigPath=/x", "timerRocksDBRollMaxTps=1e300", "deleteWhen \\\n 04;05", "myOwnKey=\xff\x00", "logicalDiskSpaceCleanForciblyThreshold=-0",
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		src := Sources{Environ: []string{"HOME=" + t.TempDir()}, Set: []string{"bindAddress=127.0.0.1"}, LookUp: noHost}
		s, err := LoadBroker(src)
		require.NoError(t, err)
		text, version := s.Text(), s.Version()
		if _, err := s.Update(body); err != nil {
			require.Equal(t, text, s.Text())
			require.Equal(t, version, s.Version())
			require.NoFileExists(t, filepath.Join(strings.TrimPrefix(src.Environ[0], "HOME="), "store/config/broker.properties"))
			return
		}
		src.Set[0] = "bindAddress=" + line(t, s.Text(), "bindAddress")
		again, err := LoadBroker(src)
		require.NoError(t, err)
		require.Equal(t, s.Text(), again.Text())
	})
}

// FuzzParseServers checks that a list that was understood is understood again, the same way.
func FuzzParseServers(f *testing.F) {
	for _, text := range []string{"a:1;b:2", "[::1]:9876; [fe80::1%eth0]:1", "127.0.0.1:9876,127.0.0.1:9877", "::1:1", "a.:1;A.:1", "1:1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParseServers(text)
		if err != nil {
			return
		}
		again, err := ParseServers(strings.Join(list, ";"))
		require.NoError(t, err)
		require.Equal(t, list, again)
	})
}
