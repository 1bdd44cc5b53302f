package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"encoding/binary"

	"github.com/mq-server/mq/protocol"
)

// template is a request frame made once; its ten-digit opaque is overwritten in place.
type template struct {
	frame  []byte
	opaque int // offset of the opaque's digits
}

func newTemplate(cmd *protocol.Command) (template, error) {
	cmd.Opaque = opaqueBase
	frame, err := protocol.AppendFrame(nil, cmd)
	if err != nil {
		return template{}, err
	}
	name := []byte(`"opaque":` + strconv.Itoa(opaqueBase))
	at := bytes.LastIndex(frame[:8+headerLen(frame)], name)
	if at < 0 {
		return template{}, errors.New("a request header without opaque")
	}
	return template{frame: frame, opaque: at + len(`"opaque":`)}, nil
}

func headerLen(frame []byte) int { return int(binary.BigEndian.Uint32(frame[4:]) & 0xffffff) }

func (t template) appendFrame(dst []byte, opaque int32) []byte {
	at := len(dst) + t.opaque
	dst = append(dst, t.frame...)
	for i := 9; i >= 0; i-- {
		dst[at+i] = byte('0' + opaque%10)
		opaque /= 10
	}
	return dst
}

// newRequest makes a request as a Java peer of the current version sends it.
func newRequest(code protocol.RequestCode, version protocol.Version, ext protocol.Ext, body []byte) *protocol.Command {
	return &protocol.Command{
		Code: int32(code), Language: protocol.LanguageGo, Version: version, Ext: ext, Body: body, Codec: protocol.CodecJSON,
	}
}

// caller is a connection with one request at a time, for what happens before and after a measured run.
type caller struct {
	conn net.Conn
	next int32
}

func dialCaller(ctx context.Context, addr string) (*caller, error) {
	dialer := net.Dialer{Timeout: dialTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &caller{conn: conn}, nil
}

func (c *caller) Close() error { return c.conn.Close() }

// call sends cmd and waits at most timeout for its answer.
func (c *caller) call(cmd *protocol.Command, timeout time.Duration) (protocol.Command, error) {
	c.next++
	cmd.Opaque = c.next
	frame, err := protocol.AppendFrame(nil, cmd)
	if err != nil {
		return protocol.Command{}, err
	}
	if err := c.conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		return protocol.Command{}, err
	}
	if _, err := c.conn.Write(frame); err != nil {
		return protocol.Command{}, err
	}
	for {
		var prefix [4]byte
		if _, err := io.ReadFull(c.conn, prefix[:]); err != nil {
			return protocol.Command{}, err
		}
		n, err := protocol.FrameLength(prefix[:], maxAnswer)
		if err != nil {
			return protocol.Command{}, err
		}
		rest := make([]byte, n)
		if _, err := io.ReadFull(c.conn, rest); err != nil {
			return protocol.Command{}, err
		}
		answer, err := protocol.DecodeCommand(rest)
		if err != nil {
			return protocol.Command{}, err
		}
		if answer.IsResponse() && answer.Opaque == cmd.Opaque {
			return answer, nil
		}
	}
}

// mustSucceed turns an answer with another code than 0 into an error.
func mustSucceed(answer protocol.Command, err error) error {
	if err != nil {
		return err
	}
	if answer.Code != int32(protocol.RespSuccess) {
		return fmt.Errorf("answered with code %d: %s", answer.Code, answer.Remark)
	}
	return nil
}
