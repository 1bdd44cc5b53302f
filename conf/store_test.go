package conf

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
)

// goldenText is the answer of the Java NameServer 5.5.0 to GET_NAMESRV_CONFIG; paths are in braces.
const goldenText = `bindAddress=0.0.0.0
clientRequestThreadPoolNums=8
clientRequestThreadPoolQueueCapacity=50000
clusterTest=false
configBlackList=configBlackList;configStorePath;kvConfigPath
configStorePath={conf}
defaultThreadPoolNums=16
defaultThreadPoolQueueCapacity=10000
deleteTopicWithBrokerRegistration=false
enableAllTopicList=true
enableControllerInNamesrv=false
enableShutdownGracefully=false
enableTopicList=true
kvConfigPath={kv}
listenPort=9876
needWaitForService=false
notifyMinBrokerIdChanged=false
orderMessageEnable=false
productEnvName=center
returnOrderTopicConfigToBroker=true
rocketmqHome={home}
scanNotActiveBrokerInterval=5000
serverAsyncSemaphoreValue=64
serverCallbackExecutorThreads=0
serverChannelMaxIdleTimeSeconds=120
serverNettyWorkerGroupEnable=true
serverOnewaySemaphoreValue=256
serverPooledByteBufAllocatorEnable=true
serverSelectorThreads=3
serverSocketBacklog=1024
serverSocketRcvBufSize=0
serverSocketSndBufSize=0
serverWorkerThreads=8
shutdownWaitTimeSeconds=30
supportActingMaster=false
unRegisterBrokerQueueCapacity=3000
useEpollNativeSelector=false
waitSecondsForService=45
writeBufferHighWaterMark=0
writeBufferLowWaterMark=0
`

func TestTextLikeJava(t *testing.T) {
	path := write(t, "")
	s, err := Load(Sources{File: path, Environ: []string{"ROCKETMQ_HOME=/opt/rmq", "HOME=/h"}})
	require.NoError(t, err)
	want := strings.NewReplacer("{conf}", path, "{kv}", "/h/namesrv/kvConfig.json", "{home}", "/opt/rmq").Replace(goldenText)
	require.Equal(t, want, s.Text())

	s, err = Load(Sources{File: path, Environ: []string{"HOME=/h"}})
	require.NoError(t, err)
	require.Equal(t, strings.Replace(want, "rocketmqHome=/opt/rmq\n", "", 1), s.Text(), "what is not set is not shown")
}

// TestUpdateIsKept is golden scenario config-persist.
func TestUpdateIsKept(t *testing.T) {
	path := write(t, "# gone with the first update\nmyOwnKey=kept\norderMessageEnable=true\n")
	src := Sources{File: path, Environ: []string{"ROCKETMQ_HOME=/opt/rmq", "HOME=/h"}}
	s, err := Load(src)
	require.NoError(t, err)
	before := s.Snapshot()
	require.NoError(t, s.Update([]byte("myOwnKey=changed\nwaitSecondsForService=9\nsupportActingMaster=true\nunknown=1")))
	require.False(t, before.Namesrv.SupportActingMaster, "a snapshot does not change")
	require.True(t, s.Namesrv().SupportActingMaster)
	require.Equal(t, 9, s.Namesrv().WaitSecondsForService)

	want := strings.NewReplacer("{conf}", path, "{kv}", "/h/namesrv/kvConfig.json", "{home}", "/opt/rmq",
		"needWait", "myOwnKey=changed\nneedWait", "orderMessageEnable=false", "orderMessageEnable=true",
		"supportActingMaster=false", "supportActingMaster=true", "waitSecondsForService=45", "waitSecondsForService=9").Replace(goldenText)
	require.Equal(t, want, s.Text())
	require.Equal(t, want, read(t, path))
	require.Contains(t, read(t, path+".bak"), "# gone with the first update")

	again, err := Load(src)
	require.NoError(t, err)
	require.Equal(t, want, again.Text())
}

// updateStep is one step of the golden scenarios config-update, config-text and config-injection, or of ours.
type updateStep struct {
	rule, body string
	err        string // "" for success
	key, want  string // what is shown afterwards; no key: everything is as before
}

func TestUpdate(t *testing.T) {
	path := write(t, "myOwnKey=kept\nclientWorkerThreads=5\ntls.server.mode=permissive\nKvConfigPath=odd\nsetRocketmqHome=odd\n")
	s, err := Load(Sources{File: path, Environ: []string{"HOME=/h"}})
	require.NoError(t, err)
	blackList := ErrBlackList.Error()
	for _, row := range []updateStep{
		{"a boolean", "orderMessageEnable=true", "", "orderMessageEnable", "true"},
		{"blanks and a colon", "waitSecondsForService = 9\nproductEnvName: a b \n", "", "productEnvName", "a b"},
		{"blanks behind a number", "waitSecondsForService=12  ", "", "waitSecondsForService", "12"},
		{"any case of true", "clusterTest=True", "", "clusterTest", "true"},
		{"an unknown key", "unknownKey=1", "", "", ""},
		{"another case is another key", "EnableTopicList=false", "", "", ""},
		{"a key of the client that the file lacks", "clientAsyncSemaphoreValue=77", "", "", ""},
		{"a key of the client that the file has", "clientWorkerThreads=77", "", "clientWorkerThreads", "77"},
		{"a key of the file's own", "myOwnKey= as is ", "", "myOwnKey", "as is "},
		{"keys of the network", "serverChannelMaxIdleTimeSeconds=60\nlistenPort=1", "", "listenPort", "1"},
		{"an empty text", "productEnvName=", "", "productEnvName", ""},
		{"nothing", "", "", "", ""},
		{"comments", "# comment\n! \\u00zz\n", "", "", ""},

		{"escapes", `product\EnvName=a\tb\\cA`, "", "productEnvName", "a\tb\\cA"},
		{"continuation", "productEnvName=one,\\\n   two", "", "productEnvName", "one,two"},
		{"a tab as separator", "  productEnvName\tvalue", "", "productEnvName", "value"},
		{"an escaped separator", `productEnv\=Name=x`, "", "", ""},
		{"the last of two", "productEnvName=1\nproductEnvName=2", "", "productEnvName", "2"},
		{"carriage returns", "productEnvName=cr\r\nwaitSecondsForService=7\r", "", "productEnvName", "cr"},
		{"no separator", "productEnvName", "", "productEnvName", ""},
		{"no key", "=x", "", "", ""},
		{"UTF-8", "productEnvName=中é", "", "productEnvName", "中é"},
		{"bytes that are not UTF-8", "productEnvName=\xff\xfe", "", "productEnvName", "��"},
		{"a backslash", `productEnvName=a\\b`, "", "productEnvName", `a\b`},

		{"a malformed escape", `orderMessageEnable=false` + "\n" + `productEnvName=\u00zz`, "string2Properties error", "", ""},
		{"a bad number", "waitSecondsForService=zz", `waitSecondsForService: "zz" is not a whole number from -2147483648 to 2147483647`, "", ""},
		{"a bad number beside a good one", "serverSelectorThreads=5\nscanNotActiveBrokerInterval=x", `scanNotActiveBrokerInterval: "x" is not a whole number from 1 to 9223372036854775807`, "", ""},
		{"a bad boolean", "orderMessageEnable=yes", `orderMessageEnable: "yes" is not true or false`, "", ""},
		{"a line break", `productEnvName=x\nmyKey=injected`, `productEnvName: "x\nmyKey=injected" is not text without line breaks`, "", ""},
		{"a line break in a key of the file's own", `myOwnKey=x\rmyKey=injected`, `myOwnKey: "x\rmyKey=injected" is not text without line breaks`, "", ""},
		{"a bad number of the client", "clientWorkerThreads=x", `clientWorkerThreads: "x" is not a whole number from -2147483648 to 2147483647`, "", ""},

		{"forbidden", "kvConfigPath=/x", blackList, "", ""},
		{"forbidden among others", "orderMessageEnable=false\nkvConfigPath=zz", blackList, "", ""},
		{"forbidden beside a bad number", "waitSecondsForService=zz\nkvConfigPath=zz", blackList, "", ""},
		{"TLS settings of the file", "tls.server.mode=disabled", blackList, "", ""},
		{"TLS settings it lacks", "tls.server.keyPath=/x", "", "", ""},
		{"a forbidden key that the file spells in another case", "KvConfigPath=zz", blackList, "", ""},
		{"a forbidden key that the file spells like its setter", "setRocketmqHome=zz", blackList, "", ""},
	} {
		before := s.Text()
		err := s.Update([]byte(row.body))
		if row.err != "" {
			require.EqualError(t, err, row.err, row.rule)
		} else {
			require.NoError(t, err, row.rule)
		}
		if row.key == "" {
			require.Equal(t, before, s.Text(), row.rule)
		} else {
			require.Equal(t, row.want, line(t, s.Text(), row.key), row.rule)
		}
		again, err := Load(Sources{File: path, Environ: []string{"HOME=/h"}})
		require.NoError(t, err, row.rule)
		require.Equal(t, s.Text(), again.Text(), row.rule)
	}
}

// TestN49_ForbiddenKeys tries to move files by updates, in every spelling (spec/namesrv.md §11, golden scenario
// config-black-list).
func TestN49_ForbiddenKeys(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	path := write(t, "")
	s, err := Load(Sources{File: path, Environ: []string{"HOME=" + dir}})
	require.NoError(t, err)
	before := s.Text()
	for _, body := range []string{
		"configStorePath=@", "kvConfigPath=@", "configBlackList=a", "rocketmqHome=@", "kvConfigPath", " kvConfigPath = @",
		`kv\u0043onfigPath=@`, `kvConfig\Path=@`, "orderMessageEnable=true\nkvConfigPath=@", "kvConfigPath:@", "a=b\\\nc\nkvConfigPath @",
		"kvConfig\\\n  Path=@", "kvConfigPath=a\nkvConfigPath=@", `\ kvConfigPath\t=@`, "setKvConfigPath=@", "setConfigStorePath=@", "setRocketmqHome=@",
	} {
		body = strings.ReplaceAll(body, "@", target)
		require.Equal(t, ErrBlackList, s.Update([]byte(body)), body)
		require.Equal(t, before, s.Text(), body)
	}
	for _, body := range []string{"KvConfigPath=@", "RocketmqHome=@", "# kvConfigPath=@", "x=kvConfigPath=@", "configStorePathName=@"} {
		require.NoError(t, s.Update([]byte(strings.ReplaceAll(body, "@", target))), body)
		require.Equal(t, before, s.Text(), body)
	}
	require.NoError(t, s.Update([]byte("productEnvName=x")))
	require.NoFileExists(t, target)
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 2, "the file and its backup")
}

// TestN49_OwnBlackList is golden scenario config-own-black-list.
func TestN49_OwnBlackList(t *testing.T) {
	s := mustLoad(t, "configBlackList= OrderMessageEnable; productEnvName;;spareKey\nspareKey=1")
	for _, key := range []string{"orderMessageEnable", "productEnvName", "spareKey", "configStorePath", "kvConfigPath", "configBlackList", "rocketmqHome"} {
		require.Equal(t, ErrBlackList, s.Update([]byte(key+"=true")), key)
	}
	require.NoError(t, s.Update([]byte("clusterTest=true")))
	require.Equal(t, "OrderMessageEnable; productEnvName;;spareKey", line(t, s.Text(), "configBlackList"))
}

func TestN50_SecretsAreMasked(t *testing.T) {
	const text = "tls.server.keyPassword=hush1\ntls.client.keyPassword=hush2\ninnerClientAuthenticationCredentials={\"accessKey\":\"hush3\"}\n" +
		"my.PASSWORD=hush4\nsocksProxyConfig={\"0.0.0.0/0\":{\"password\":\"hush5\"}}\nmySecretKey=\n"
	path := write(t, text)
	var log bytes.Buffer
	s, err := Load(Sources{File: path, Log: zerolog.New(&log)})
	require.NoError(t, err)
	s.LogNotes()
	require.NoError(t, s.Update([]byte("my.PASSWORD=hush6\nproductEnvName=x")))
	require.Error(t, s.Update([]byte(`my.PASSWORD=hush\n7`)))
	err = s.Update([]byte(`my.PASSWORD=hush\n7`))
	require.NotContains(t, err.Error(), "hush")
	var out strings.Builder
	require.NoError(t, s.Print(&out))
	for _, shown := range []string{s.Text(), out.String(), log.String()} {
		require.NotContains(t, shown, "hush")
	}
	require.Equal(t, Mask, line(t, s.Text(), "tls.server.keyPassword"))
	require.Empty(t, line(t, s.Text(), "mySecretKey"))
	require.Equal(t, "{}", line(t, printed(t, mustLoad(t, "")), "socksProxyConfig"))

	require.NoError(t, s.Update([]byte("my.PASSWORD="+Mask)), "what was shown may be sent back")
	again, err := Load(Sources{File: path})
	require.NoError(t, err)
	require.Equal(t, "hush1", again.Snapshot().TLS.ServerKeyPassword, "what is kept is not masked")
	require.Contains(t, read(t, path), "my.PASSWORD=hush6\n")

	_, err = load(t, `tls.server.keyPassword=hu\nsh`)
	require.ErrorContains(t, err, ":1: tls.server.keyPassword: the value is not text without line breaks")
}

func printed(t *testing.T, s *Store) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, s.Print(&out))
	return out.String()
}

func TestUpdateThatCannotBeKept(t *testing.T) {
	path := write(t, "")
	s, err := Load(Sources{File: path})
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(path+".tmp", 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(path+".tmp", "x"), nil, 0o600))
	before := s.Text()
	require.ErrorContains(t, s.Update([]byte("orderMessageEnable=true")), "configuration cannot be kept: ")
	require.Equal(t, before, s.Text())
	require.False(t, s.Namesrv().OrderMessageEnable)
	require.Empty(t, read(t, path))
}

// TestUpdateOfWhatTheCommandLineSays: it counts until the next start, and the file never gets what came from
// elsewhere.
func TestUpdateOfWhatTheCommandLineSays(t *testing.T) {
	var log bytes.Buffer
	path := write(t, "waitSecondsForService=1\nlistenPort=0\n")
	src := Sources{File: path, Set: []string{"waitSecondsForService=2"}, Environ: []string{"MQ_PRODUCT_ENV_NAME=variable"}, Log: zerolog.New(&log)}
	s, err := Load(src)
	require.NoError(t, err)
	s.SetListenPort(4321)
	require.Equal(t, 4321, s.Server().ListenPort)
	require.NoError(t, s.Update([]byte("orderMessageEnable=true")))
	require.Equal(t, "1", line(t, read(t, path), "waitSecondsForService"))
	require.Equal(t, "center", line(t, read(t, path), "productEnvName"))
	require.Equal(t, "0", line(t, read(t, path), "listenPort"))
	require.Equal(t, "4321", line(t, s.Text(), "listenPort"))
	require.Equal(t, "2", line(t, s.Text(), "waitSecondsForService"))
	require.NotContains(t, log.String(), `"level":"warn"`)

	require.NoError(t, s.Update([]byte("waitSecondsForService=3\nlistenPort=5")))
	require.Equal(t, 3, s.Namesrv().WaitSecondsForService)
	require.Equal(t, 5, s.Server().ListenPort)
	require.Contains(t, log.String(), `"level":"warn","key":"waitSecondsForService","by":"--set"`)
	require.Contains(t, log.String(), `"atNextStart":["listenPort"]`)
	s, err = Load(src)
	require.NoError(t, err)
	require.Equal(t, 2, s.Namesrv().WaitSecondsForService)
}

// TestConcurrentUpdates checks that none is lost and that readers see whole updates.
func TestConcurrentUpdates(t *testing.T) {
	path := write(t, "a=0\nb=0\nc=0\nd=0\n")
	s, err := Load(Sources{File: path})
	require.NoError(t, err)
	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	readers.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			c := s.Namesrv()
			if c.OrderMessageEnable != c.SupportActingMaster {
				t.Error("half an update is seen")
				return
			}
		}
	})
	for _, key := range []string{"a", "b", "c", "d"} {
		writers.Go(func() {
			for _, on := range []string{"true", "false", "true"} {
				if err := s.Update([]byte(key + "=" + on + "\norderMessageEnable=" + on + "\nsupportActingMaster=" + on)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
	again, err := Load(Sources{File: path})
	require.NoError(t, err)
	require.Equal(t, s.Text(), again.Text())
	for _, key := range []string{"a", "b", "c", "d"} {
		require.Equal(t, "true", line(t, s.Text(), key))
	}
}
