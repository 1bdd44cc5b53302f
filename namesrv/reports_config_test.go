package namesrv_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mq-server/mq/namesrv"
	"github.com/mq-server/mq/protocol"
)

// Field reports about the KV configuration and the server's own: spec/field-reports.md, sections F to H.

func read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}

func (c *client) put(namespace, key, value string) {
	c.t.Helper()
	c.must(protocol.ReqPutKVConfig, ext("namespace", namespace, "key", key, "value", value), "")
}

func TestN43(t *testing.T) {
	ns := startNamesrv(t)
	c := ns.Admin()
	c.put("ORDER_TOPIC_CONFIG", "T", "a:4")
	file, table := read(t, ns.kvFile()), `{"table":{"T":"a:4"}}`
	const null = "namespace or key is null"
	for _, tt := range []struct {
		fields protocol.Ext
		remark string
	}{
		{ext("namespace", "ORDER_TOPIC_CONFIG", "value", "v"), null},
		{ext("key", "T", "value", "v"), null},
		{ext("namespace", "ORDER_TOPIC_CONFIG", "key", "T"), "value"},
		{ext("namespace", "ORDER_TOPIC_CONFIG", "key", "U"), "value"},
		{nil, null},
	} {
		c.refused(protocol.RespSystemError, protocol.ReqPutKVConfig, tt.fields, "", tt.remark)
		require.Equal(t, table, string(c.must(protocol.ReqGetKVListByNamespace, ext("namespace", "ORDER_TOPIC_CONFIG"), "").Body))
		require.Equal(t, file, read(t, ns.kvFile()))
	}
	c.put("ORDER_TOPIC_CONFIG", "", "")
	answer := ns.dial().register(testBroker{Name: "a", Addr: "127.0.0.1:1"})
	var order struct{ Table map[string]*string }
	require.NoError(t, json.Unmarshal(answer.Body, &order))
	require.Len(t, order.Table, 2)
	for key, value := range order.Table {
		require.NotNil(t, value, key)
	}
}

func TestN44(t *testing.T) {
	dir := t.TempDir()
	ns := startNamesrvIn(t, dir)
	ns.Admin().put("N", "k", "old")
	ns.Admin().put("N", "k", "new")
	ns.stop()
	whole := read(t, ns.kvFile())
	require.NoError(t, os.WriteFile(ns.kvFile(), []byte(whole[:len(whole)/2]), 0o644))

	ns = startNamesrvIn(t, dir)
	value, _ := ns.Admin().must(protocol.ReqGetKVConfig, ext("namespace", "N", "key", "k"), "").Ext.Get("value")
	require.Equal(t, "old", value)
	require.Contains(t, ns.Log.String(), `"level":"error"`)
	require.Contains(t, ns.Log.String(), "KV configuration file is damaged")
	require.Equal(t, whole[:len(whole)/2], read(t, ns.kvFile()+".damaged"))
	ns.stop()

	require.NoError(t, os.WriteFile(ns.kvFile(), []byte("{"), 0o644))
	require.NoError(t, os.WriteFile(ns.kvFile()+".bak", []byte("{"), 0o644))
	_, err := newNamesrv(t, dir, namesrv.Options{})
	require.ErrorContains(t, err, ns.kvFile())
	require.ErrorContains(t, err, ".bak")
}

func TestN45(t *testing.T) {
	c := startNamesrv(t).Admin()
	c.put("N", "k", "v")
	answer := c.refused(protocol.RespQueryNotFound, protocol.ReqGetKVConfig, ext("namespace", "N", "key", "x"), "", "No config item, Namespace: N Key: x")
	require.NotNil(t, answer.Ext, "an empty header")
	c.refused(protocol.RespQueryNotFound, protocol.ReqGetKVConfig, ext("namespace", "M", "key", "k"), "", "No config item, Namespace: M Key: k")
	c.refused(protocol.RespQueryNotFound, protocol.ReqGetKVListByNamespace, ext("namespace", "M"), "", "No config item, Namespace: M")
	c.must(protocol.ReqDeleteKVConfig, ext("namespace", "M", "key", "k"), "")
	c.must(protocol.ReqDeleteKVConfig, ext("namespace", "N", "key", "x"), "")
}

func TestN46(t *testing.T) {
	for _, inRoute := range []bool{false, true} {
		for _, inAnswer := range []bool{false, true} {
			t.Run(fmt.Sprintf("orderMessageEnable=%t,returnOrderTopicConfigToBroker=%t", inRoute, inAnswer), func(t *testing.T) {
				ns := startNamesrv(t, fmt.Sprintf("orderMessageEnable=%t", inRoute), fmt.Sprintf("returnOrderTopicConfigToBroker=%t", inAnswer))
				b := testBroker{Name: "a", Addr: "127.0.0.1:1", Topics: named("T", "U")}
				c := ns.dial()
				check := func(value string, table string) {
					t.Helper()
					answer := c.register(b)
					if !inAnswer {
						table = ""
					}
					require.Equal(t, table, string(answer.Body))
					for range 2 { // made, then from the cache
						r := ns.route("T")
						if !inRoute || value == "" {
							require.Nil(t, r.OrderTopicConf)
						} else {
							require.Equal(t, value, *r.OrderTopicConf)
						}
						require.Nil(t, ns.route("U").OrderTopicConf)
					}
				}
				check("", "")
				ns.Admin().put("ORDER_TOPIC_CONFIG", "T", "a:4;b:4")
				check("a:4;b:4", `{"table":{"T":"a:4;b:4"}}`)
				ns.Admin().put("ORDER_TOPIC_CONFIG", "T", "a:8")
				check("a:8", `{"table":{"T":"a:8"}}`)
				ns.Admin().must(protocol.ReqDeleteKVConfig, ext("namespace", "ORDER_TOPIC_CONFIG", "key", "T"), "")
				check("", `{"table":{}}`)
			})
		}
	}
}

func TestN49(t *testing.T) {
	ns := startNamesrv(t)
	target := filepath.Join(ns.dir, "target")
	before := ns.snapshot()
	conf := read(t, ns.confFile())
	for _, key := range []string{
		"configStorePath", "kvConfigPath", "rocketmqHome", "configBlackList",
		" kvConfigPath ", `kv\u0043onfigPath`, `kvConfig\Path`, "setKvConfigPath", "\tconfigStorePath",
	} {
		for _, separator := range []string{"=", ":", " "} {
			ns.Admin().refused(protocol.RespNoPermission, protocol.ReqUpdateNamesrvConfig, nil,
				"orderMessageEnable=true\n"+key+separator+target, "Can not update config in black list.")
			require.Equal(t, before, ns.snapshot())
		}
	}
	// A line break in a value makes no line of its own, neither in the file nor in what is shown.
	ns.Admin().refused(protocol.RespSystemError, protocol.ReqUpdateNamesrvConfig, nil, `productEnvName=x\nkvConfigPath=`+target, "productEnvName")
	shown := string(ns.Admin().must(protocol.ReqGetNamesrvConfig, nil, "").Body)
	require.NotContains(t, shown, "\nkvConfigPath="+target)
	require.NotContains(t, read(t, ns.confFile()), "\nkvConfigPath="+target)
	require.Contains(t, conf, "kvConfigPath="+ns.kvFile())
	ns.Admin().put("N", "k", "v")
	ns.stop()
	require.NoFileExists(t, target)

	ns = startNamesrvIn(t, ns.dir)
	value, _ := ns.Admin().must(protocol.ReqGetKVConfig, ext("namespace", "N", "key", "k"), "").Ext.Get("value")
	require.Equal(t, "v", value)
}

func TestN50(t *testing.T) {
	const secret = "s3cr3t-text"
	ns := startNamesrv(t, "tls.server.keyPassword="+secret, "tls.client.keyPassword="+secret, "innerClientAuthenticationCredentials="+secret)
	ns.Admin().must(protocol.ReqUpdateNamesrvConfig, nil, "orderMessageEnable=true")
	shown := string(ns.Admin().must(protocol.ReqGetNamesrvConfig, nil, "").Body)
	require.Contains(t, shown, "tls.server.keyPassword=")
	require.NotContains(t, shown, secret)
	ns.stop()
	require.NotContains(t, ns.Log.String(), secret)
	require.Equal(t, 3, strings.Count(read(t, ns.confFile()), secret), "the file keeps them")
}

// An update is taken whole or not at all, works at once where it can, and is there after a restart.
func TestConfigUpdate(t *testing.T) {
	ns := startNamesrv(t)
	ns.startBroker(testBroker{Name: "a", Addr: "127.0.0.1:1"})
	before := ns.snapshot()
	ns.Admin().refused(protocol.RespSystemError, protocol.ReqUpdateNamesrvConfig, nil, "enableTopicList=false\nwaitSecondsForService=x", "waitSecondsForService", "x")
	ns.Admin().refused(protocol.RespSystemError, protocol.ReqUpdateNamesrvConfig, nil, "enableTopicList=no", "enableTopicList", "no")
	ns.Admin().refused(protocol.RespSystemError, protocol.ReqUpdateNamesrvConfig, nil, `x=\u00zz`, "string2Properties error")
	require.Equal(t, before, ns.snapshot())
	ns.Admin().must(protocol.ReqGetTopicsByCluster, ext("cluster", "C"), "")
	ns.Admin().must(protocol.ReqUpdateNamesrvConfig, nil, "enableTopicList=false\nunknown=1")
	for _, code := range []protocol.RequestCode{
		protocol.ReqGetTopicsByCluster, protocol.ReqGetUnitTopicList, protocol.ReqGetHasUnitSubTopicList, protocol.ReqGetHasUnitSubUnUnitTopicList,
	} {
		require.Equal(t, "disable", ns.Admin().refused(protocol.RespSystemError, code, ext("cluster", "C"), "").Remark)
	}
	ns.stop()
	ns = startNamesrvIn(t, ns.dir)
	ns.Admin().refused(protocol.RespSystemError, protocol.ReqGetTopicsByCluster, ext("cluster", "C"), "", "disable")
}
