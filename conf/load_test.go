package conf

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
)

// write makes a properties file and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "namesrv.properties")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// load reads a file with this text, in an environment of its own.
func load(t *testing.T, text string, environ ...string) (*Store, error) {
	t.Helper()
	return Load(Sources{File: write(t, text), Environ: append(environ, "HOME="+t.TempDir())})
}

func mustLoad(t *testing.T, text string, environ ...string) *Store {
	t.Helper()
	s, err := load(t, text, environ...)
	require.NoError(t, err)
	return s
}

// line returns the value of key in a text of "key=value" lines.
func line(t *testing.T, text, key string) string {
	t.Helper()
	value, found := "", false
	for l := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(l, key+"="); ok {
			require.False(t, found, "%s is there twice", key)
			value, found = strings.TrimSuffix(v, "\n"), true
		}
	}
	require.True(t, found, "%s is not in\n%s", key, text)
	return value
}

func TestDefaults(t *testing.T) {
	home := t.TempDir()
	s, err := Load(Sources{Environ: []string{"HOME=" + home, "ROCKETMQ_HOME=/opt/rocketmq"}})
	require.NoError(t, err)
	c := s.Snapshot()
	require.Equal(t, NamesrvConfig{
		RocketmqHome: "/opt/rocketmq", KVConfigPath: home + "/namesrv/kvConfig.json", ConfigStorePath: home + "/namesrv/namesrv.properties",
		ProductEnvName: "center", ReturnOrderTopicConfigToBroker: true,
		ClientRequestThreadPoolNums: 8, DefaultThreadPoolNums: 16, ClientRequestThreadPoolQueueCap: 50000, DefaultThreadPoolQueueCap: 10000,
		ScanNotActiveBrokerInterval: 5000, UnRegisterBrokerQueueCap: 3000, EnableAllTopicList: true, EnableTopicList: true,
		WaitSecondsForService: 45, ConfigBlackList: "configBlackList;configStorePath;kvConfigPath",
	}, c.Namesrv)
	require.Equal(t, "0.0.0.0", c.Server.BindAddress)
	require.Equal(t, 9876, c.Server.ListenPort)
	require.Equal(t, 2*time.Minute, c.Server.Idle())
	require.Equal(t, time.Duration(0), c.Server.Drain())
	require.Equal(t, 3*time.Second, c.Client.ConnectTimeout())
	require.False(t, c.Client.UseTLS)
	require.Equal(t, TLSConfig{ServerMode: "permissive", ConfigFile: "/etc/rocketmq/tls.properties", TestMode: true, ServerNeedClientAuth: "none"}, c.TLS)
}

// TestDefaultsAreValid normalizes every default: what the table says is what is shown.
func TestDefaultsAreValid(t *testing.T) {
	for _, k := range Keys() {
		if !k.Unset {
			value, ok := k.normalize(k.Default)
			require.True(t, ok, k.Name)
			require.Equal(t, k.Default, value, k.Name)
		}
	}
	require.Len(t, namesrvTable.byEnvName, len(namesrvTable.byName), "two keys have the same variable")
}

func TestSourceOrder(t *testing.T) {
	const file = "listenPort=1\nserverChannelMaxIdleTimeSeconds=1\nrocketmqHome=/file\n"
	environ := []string{"HOME=" + t.TempDir(), "ROCKETMQ_HOME=/variable", "MQ_LISTEN_PORT=2", "MQ_SERVERCHANNELMAXIDLETIMESECONDS=2", "MQ_CLUSTER_TEST="}
	s, err := Load(Sources{File: write(t, file), Environ: environ, Set: []string{"listenPort=3"}})
	require.NoError(t, err)
	require.Equal(t, 3, s.Server().ListenPort, "the command line comes last")
	require.Equal(t, 2, s.Server().ServerChannelMaxIdleTimeSeconds, "MQ_ variables beat the file")
	require.Equal(t, "/file", s.Namesrv().RocketmqHome, "the file beats ROCKETMQ_HOME")
	require.False(t, s.Namesrv().ClusterTest, "an empty variable is none")
}

func TestVariableNames(t *testing.T) {
	for variable, key := range map[string]string{
		"MQ_LISTEN_PORT": "listenPort", "MQ_LISTENPORT": "listenPort", "MQ_listenPort": "listenPort",
		"MQ_TLS_SERVER_KEY_PATH": "tls.server.keyPath", "MQ_TLS_SERVER_KEYPATH": "tls.server.keyPath",
		"MQ_USE_TLS": "useTLS", "MQ_TLS_SERVER_NEED_CLIENT_AUTH": "tls.server.need.client.auth",
	} {
		require.Equal(t, key, namesrvTable.byEnvName[envName(strings.TrimPrefix(variable, "MQ_"))], variable)
	}
}

func TestN47_MistakesStopTheStart(t *testing.T) {
	for _, row := range []struct{ rule, text, want string }{
		{"a number with a letter", "a=b\nlistenPort=98x76", `:2: listenPort: "98x76" is not a whole number from 0 to 65535`},
		{"a number out of range", "listenPort=70000", `:1: listenPort: "70000" is not a whole number from 0 to 65535`},
		{"no number", "waitSecondsForService=", `:1: waitSecondsForService: "" is not a whole number from -2147483648 to 2147483647`},
		{"a number beyond its type", "serverWorkerThreads=4294967304", `:1: serverWorkerThreads: "4294967304" is not a whole number from -2147483648 to 2147483647`},
		{"no scan at all", "scanNotActiveBrokerInterval=0", `:1: scanNotActiveBrokerInterval: "0" is not a whole number from 1 to 9223372036854775807`},
		{"a boolean that is none", "orderMessageEnable=yes", `:1: orderMessageEnable: "yes" is not true or false`},
		{"the last of two counts", "listenPort=1\nlistenPort=x", `:2: listenPort: "x" is not`},
		{"an address that is none", "bindAddress=300.1.1.1", `:1: bindAddress: "300.1.1.1" is not an IP address or a host name`},
		{"an address with a port", "bindAddress=127.0.0.1:9876", `:1: bindAddress: "127.0.0.1:9876" is not an IP address or a host name`},
		{"a key of the client", "clientWorkerThreads=x", `:1: clientWorkerThreads: "x" is not a whole number`},
		{"a mode that is none", "tls.server.mode=Enforcing", `:1: tls.server.mode: "Enforcing" is not one of disabled, permissive, enforcing`},
		{"a line break", `productEnvName=a\nb`, `:1: productEnvName: "a\nb" is not text without line breaks`},
		{"a malformed escape", "#\nproductEnvName=\\u00zz", `:2: malformed \u escape: four hexadecimal digits must follow`},
	} {
		t.Run(row.rule, func(t *testing.T) {
			_, err := load(t, row.text)
			require.ErrorContains(t, err, "namesrv.properties"+row.want)
			require.NotContains(t, err.Error(), "\n")
		})
	}
	_, err := load(t, "", "MQ_LISTEN_PORT=x")
	require.EqualError(t, err, `environment variable MQ_LISTEN_PORT: listenPort: "x" is not a whole number from 0 to 65535`)
	_, err = Load(Sources{Set: []string{"listenPort=x"}})
	require.EqualError(t, err, `--set: listenPort: "x" is not a whole number from 0 to 65535`)
	_, err = Load(Sources{Set: []string{"lisenPort=1"}})
	require.EqualError(t, err, `--set "lisenPort": there is no such configuration key`)
	_, err = Load(Sources{Set: []string{"listenPort"}})
	require.EqualError(t, err, `--set "listenPort": want key=value`)
	_, err = Load(Sources{File: filepath.Join(t.TempDir(), "missing")})
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Load(Sources{File: t.TempDir()})
	require.ErrorContains(t, err, "is a directory")
}

func TestN47_ValuesAreReadAsMeant(t *testing.T) {
	for _, row := range []struct{ rule, text, key, want string }{
		{"blanks after a number", "listenPort = 19876 ", "listenPort", "19876"},
		{"a blank after true", "orderMessageEnable=true ", "orderMessageEnable", "true"},
		{"any case of true", "enableTopicList=TRUE", "enableTopicList", "true"},
		{"a sign", "serverWorkerThreads=+4", "serverWorkerThreads", "4"},
		{"blanks around text", "productEnvName=  x y  ", "productEnvName", "x y"},
		{"a colon", "productEnvName:x", "productEnvName", "x"},
		{"a blank as separator", "productEnvName x", "productEnvName", "x"},
		{"comments and CRLF", "# c\r\n! c\r\nproductEnvName=x\r\n", "productEnvName", "x"},
		{"the last of two", "productEnvName=1\nproductEnvName=2", "productEnvName", "2"},
		{"UTF-8", "productEnvName=中é", "productEnvName", "中é"},
		{"UTF-8 with a mark", "\xef\xbb\xbfproductEnvName=é", "productEnvName", "é"},
		{"ISO-8859-1", "productEnvName=\xe9", "productEnvName", "é"},
		{"keys of its own keep their blanks", "spareKey=v ", "spareKey", "v "},
		{"keys of the client are shown", "clientWorkerThreads=9", "clientWorkerThreads", "9"},
	} {
		t.Run(row.rule, func(t *testing.T) {
			require.Equal(t, row.want, line(t, mustLoad(t, row.text).Text(), row.key))
		})
	}
}

func TestN47_UnknownKeysAreWarnedAbout(t *testing.T) {
	var log bytes.Buffer
	path := write(t, "#\nlisenPort=1\nlistenPort=2\nlistenPort=3\nserverWorkerThreads=9\nserverSelectorThreads=3\n")
	s, err := Load(Sources{File: path, Environ: []string{"HOME=/x", "MQ_LISENPORT=1", "MQ_LOG_LEVEL=debug"}, NotKeys: []string{"MQ_LOG_LEVEL"}, Log: zerolog.New(&log)})
	require.NoError(t, err)
	require.Empty(t, log.String(), "a start that fails later has one line of its own")
	s.LogNotes()
	s.LogNotes()
	require.Equal(t, `{"level":"warn","variables":["MQ_LISENPORT"],"message":"environment variables that name no configuration key are ignored"}
{"level":"warn","key":["`+path+`:4: listenPort, before in line 3"],"message":"configuration key is there twice: the last one counts"}
{"level":"warn","keys":["`+path+`:2: lisenPort"],"message":"unknown configuration keys have no effect"}
{"level":"info","keys":["serverWorkerThreads"],"message":"configuration keys of the Java NameServer that have no effect here"}
`, log.String())
	require.Equal(t, "1", line(t, s.Text(), "lisenPort"))
}

func TestN58_BindAddresses(t *testing.T) {
	for text, want := range map[string]string{
		"::": "::", "[::1]": "::1", "fe80::1%eth0": "fe80::1%eth0", "127.0.0.1": "127.0.0.1", "localhost": "localhost", "ns_1.example.com": "ns_1.example.com",
	} {
		require.Equal(t, want, mustLoad(t, "bindAddress="+text).Server().BindAddress)
	}
	for _, text := range []string{"", "1.2.3", "[127.0.0.1]", "[::1", "a b", "[::1]:9876", "host:9876", "a..b", strings.Repeat("a", 64)} {
		_, err := load(t, "bindAddress="+text)
		require.Error(t, err, text)
	}
}

func TestConfigStorePathIsTheFile(t *testing.T) {
	path := write(t, "configStorePath=/elsewhere\nkvConfigPath=/kv\n")
	s, err := Load(Sources{File: path, Environ: []string{"MQ_CONFIG_STORE_PATH=/other", "MQ_KV_CONFIG_PATH=/kv2"}})
	require.NoError(t, err)
	require.Equal(t, path, s.Namesrv().ConfigStorePath)
	require.Equal(t, "/kv2", s.Namesrv().KVConfigPath)
}

// TestUpdatesWithoutFile is fault F18 turned right: an update without -c is in force after a restart.
func TestUpdatesWithoutFile(t *testing.T) {
	for name, variable := range map[string]string{"default path": "", "path from a variable": filepath.Join(t.TempDir(), "store.properties")} {
		t.Run(name, func(t *testing.T) {
			src := Sources{Environ: []string{"HOME=" + t.TempDir(), "MQ_CONFIG_STORE_PATH=" + variable}}
			first, err := Load(src)
			require.NoError(t, err)
			require.NoError(t, first.Update([]byte("orderMessageEnable=true\nproductEnvName=é")))
			require.FileExists(t, first.Namesrv().ConfigStorePath)
			if variable != "" {
				require.Equal(t, variable, first.Namesrv().ConfigStorePath)
			}
			second, err := Load(src)
			require.NoError(t, err)
			require.Equal(t, first.Text(), second.Text())
			require.True(t, second.Namesrv().OrderMessageEnable)
		})
	}
}

func TestDamagedFile(t *testing.T) {
	path := write(t, "listenPort=1\n\x00\x00\x00\x00")
	_, err := Load(Sources{File: path})
	require.ErrorContains(t, err, path+": the file is damaged")
	require.NoError(t, os.WriteFile(path+".bak", []byte("listenPort=2\n"), 0o600))
	var log bytes.Buffer
	s, err := Load(Sources{File: path, Log: zerolog.New(&log)})
	require.NoError(t, err)
	require.Equal(t, 2, s.Server().ListenPort)
	s.LogNotes()
	require.Contains(t, log.String(), `"level":"error"`)
	require.NoError(t, s.Update([]byte("listenPort=3")))
	s, err = Load(Sources{File: path})
	require.NoError(t, err)
	require.Equal(t, 3, s.Server().ListenPort)
}

func TestTLS(t *testing.T) {
	tls := filepath.Join(t.TempDir(), "tls.properties")
	require.NoError(t, os.WriteFile(tls, []byte("tls.server.keyPath=/tls/key\ntls.server.certPath=/tls/cert\ntls.test.mode.enable=false\ntls.server.mode=disabled\nlistenPort=1\n"), 0o600))
	var log bytes.Buffer
	s, err := Load(Sources{
		File:    write(t, "tls.config.file="+tls+"\ntls.server.mode=enforcing\ntls.server.keyPath=/file/key\ntls.server.need.client.auth=REQUIRE\ntls.ciphers=A,B\n"),
		Environ: []string{"MQ_TLS_SERVER_CERT_PATH=/variable/cert"}, Log: zerolog.New(&log),
	})
	require.NoError(t, err)
	require.Equal(t, TLSConfig{
		ServerMode: "enforcing", ConfigFile: tls, Ciphers: "A,B", ServerNeedClientAuth: "require",
		ServerKeyPath: "/tls/key", ServerCertPath: "/variable/cert",
	}, s.Snapshot().TLS)
	require.True(t, s.Snapshot().Client.UseTLS, "enforcing and tls.enable not set")
	require.Equal(t, 9876, s.Server().ListenPort)
	s.LogNotes()
	require.Contains(t, log.String(), tls+":4: tls.server.mode")
	require.Contains(t, log.String(), tls+":5: listenPort")

	require.False(t, mustLoad(t, "tls.server.mode=enforcing\ntls.enable=false").Snapshot().Client.UseTLS)
	require.True(t, mustLoad(t, "tls.enable=true").Snapshot().Client.UseTLS)
	require.False(t, mustLoad(t, "tls.enable=true\nuseTLS=false").Snapshot().Client.UseTLS)
	_, err = load(t, "tls.config.file=/nowhere/tls.properties")
	require.ErrorContains(t, err, "/nowhere/tls.properties")
}

func TestPrint(t *testing.T) {
	s := mustLoad(t, "listenPort=1\ntls.server.keyPassword=hush\nspareKey=x\nwriteBufferHighWaterMark=7\n")
	var out strings.Builder
	require.NoError(t, s.Print(&out))
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	require.Len(t, lines, len(Keys()))
	for i, k := range Keys() {
		name, value, ok := strings.Cut(lines[i], "=")
		require.True(t, ok)
		require.Equal(t, k.Name, name)
		switch name {
		case "listenPort":
			require.Equal(t, "1", value)
		case "tls.server.keyPassword":
			require.Equal(t, Mask, value)
		case "rocketmqHome", "tls.ciphers":
			require.Empty(t, value)
		case "useTLS", "tls.enable":
			require.Equal(t, "false", value)
		case "writeBufferHighWaterMark":
			require.Equal(t, "7", value)
		case "clientWorkerThreads":
			require.Equal(t, "4", value)
		}
	}
}

func TestScanIntervalIsClamped(t *testing.T) {
	s := mustLoad(t, "scanNotActiveBrokerInterval="+strconv.FormatInt(1<<63-1, 10))
	require.Greater(t, s.Namesrv().ScanInterval(), 200*365*24*time.Hour)
}
