package protocol

// KVTable is the answer to GET_KVLIST_BY_NAMESPACE (219), and the order topics in the answer to REGISTER_BROKER (103).
type KVTable struct {
	Table map[string]string
}

// KVConfigSerializeWrapper is the content of kvConfig.json: namespace, key, value.
type KVConfigSerializeWrapper struct {
	ConfigTable map[string]map[string]string
}
