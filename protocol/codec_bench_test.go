package protocol

import "testing"

var (
	sinkCommand Command
	sinkBytes   []byte
)

func routeRequestFrame(b *testing.B, codec Codec) []byte {
	frame, err := AppendFrame(nil, &Command{
		Code: int32(ReqGetRouteInfoByTopic), Version: CurrentVersion, Opaque: 12345, Codec: codec, Ext: Ext{{"topic", "orders-of-today"}},
	})
	if err != nil {
		b.Fatal(err)
	}
	return frame[4:]
}

func benchmarkDecode(b *testing.B, frame []byte) {
	b.SetBytes(int64(len(frame)))
	b.ReportAllocs()
	for b.Loop() {
		if err := sinkCommand.Decode(frame); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeRouteRequestJSON(b *testing.B) {
	benchmarkDecode(b, routeRequestFrame(b, CodecJSON))
}

func BenchmarkDecodeRouteRequestGoClient(b *testing.B) {
	benchmarkDecode(b, jsonFrame(`{"code":105,"language":"GO","version":317,"opaque":29,"flag":0,"remark":"","extFields":{"topic":"orders-of-today"}}`, "")[4:])
}

func BenchmarkDecodeRouteRequestBinary(b *testing.B) {
	benchmarkDecode(b, routeRequestFrame(b, CodecBinary))
}

func BenchmarkDecodeRouteRequestLenient(b *testing.B) {
	benchmarkDecode(b, jsonFrame(`{"code":105, "extFields":{"topic":"orders-of-today"}, "flag":0, "language":"JAVA", "opaque":29, "version":479}`, "")[4:])
}

func benchmarkEncode(b *testing.B, c *Command) {
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if sinkBytes, err = AppendFrameHeader(sinkBytes[:0], c, 300); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(sinkBytes)))
	}
}

func BenchmarkEncodeRouteResponseJSON(b *testing.B) {
	benchmarkEncode(b, &Command{Language: LanguageGo, Version: CurrentVersion, Opaque: 12345, Flag: FlagResponse})
}

func BenchmarkEncodeRouteResponseBinary(b *testing.B) {
	benchmarkEncode(b, &Command{Language: LanguageGo, Version: CurrentVersion, Opaque: 12345, Flag: FlagResponse, Codec: CodecBinary})
}

func BenchmarkEncodeRegisterResponseJSON(b *testing.B) {
	h := RegisterBrokerResponseHeader{HAServerAddr: Some("10.0.0.1:10912"), MasterAddr: Some("10.0.0.1:10911")}
	benchmarkEncode(b, &Command{Language: LanguageGo, Version: CurrentVersion, Opaque: 12345, Flag: FlagResponse, Ext: h.AppendExt(nil)})
}
