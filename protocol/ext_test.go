package protocol

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExtGetLastDuplicateWins(t *testing.T) {
	ext := Ext{{"a", "1"}, {"b", "2"}, {"a", "3"}, {"e", ""}}
	value, ok := ext.Get("a")
	require.True(t, ok)
	require.Equal(t, "3", value)
	value, ok = ext.Get("e")
	require.True(t, ok)
	require.Empty(t, value)
	_, ok = ext.Get("A")
	require.False(t, ok)
	_, ok = Ext(nil).Get("")
	require.False(t, ok)
}

// Number texts of spec/remoting.md §3.2 and fact 23.
func TestIntegerTexts(t *testing.T) {
	for _, tc := range []struct {
		text  string
		bits  int
		want  int64
		wrong string
	}{
		{"0", 64, 0, ""},
		{"+3", 32, 3, ""},
		{"-3", 32, -3, ""},
		{"-0", 32, 0, ""},
		{"007", 32, 7, ""},
		{strings.Repeat("0", 100) + "1", 32, 1, ""},
		{"2147483647", 32, math.MaxInt32, ""},
		{"2147483648", 32, 0, "out of range"},
		{"-2147483648", 32, math.MinInt32, ""},
		{"-2147483649", 32, 0, "out of range"},
		{"9223372036854775807", 64, math.MaxInt64, ""},
		{"9223372036854775808", 64, 0, "out of range"},
		{"-9223372036854775808", 64, math.MinInt64, ""},
		{"-9223372036854775809", 64, 0, "out of range"},
		{strings.Repeat("9", 1000), 64, 0, "out of range"},
		{"\u0664\u0662", 32, 42, ""},            // Arabic-Indic
		{"-\uFF11\uFF12", 32, -12, ""},          // full width
		{"1\u0967", 32, 11, ""},                 // Devanagari after ASCII
		{"\U0001D7CE", 32, 0, "not an integer"}, // a digit, but not of the basic plane
		{"\u00B2", 32, 0, "not an integer"},     // superscript two is no decimal digit
		{"1\xff", 32, 0, "not an integer"},      // no UTF-8
		{"99999999999x", 32, 0, "not an integer"},
		{"", 64, 0, "not an integer"},
		{"+", 64, 0, "not an integer"},
		{"-", 64, 0, "not an integer"},
		{"+-1", 64, 0, "not an integer"},
		{"1+", 64, 0, "not an integer"},
		{" 3", 64, 0, "not an integer"},
		{"3 ", 64, 0, "not an integer"},
		{"0x10", 64, 0, "not an integer"},
		{"1_000", 64, 0, "not an integer"},
		{"7L", 64, 0, "not an integer"},
		{"1.0", 64, 0, "not an integer"},
		{"1e2", 64, 0, "not an integer"},
		{"true", 64, 0, "not an integer"},
	} {
		t.Run(tc.text, func(t *testing.T) {
			n, wrong := parseInteger(tc.text, tc.bits)
			require.Equal(t, tc.wrong, wrong)
			require.Equal(t, tc.want, n)
		})
	}
}

func TestBooleanTexts(t *testing.T) {
	ext := Ext{{"a", "TRUE"}, {"b", "1"}, {"c", "true "}, {"d", ""}, {"e", "yes"}, {"f", "tRuE"}, {"g", "false"}}
	r := ReadExt(ext)
	for _, tc := range []struct {
		key  string
		def  bool
		want bool
	}{
		{"a", false, true}, {"b", true, false}, {"c", true, false}, {"d", true, false}, {"e", true, false},
		{"f", false, true}, {"g", true, false}, {"missing", true, true}, {"missing", false, false},
	} {
		require.Equal(t, tc.want, r.Bool(tc.key, tc.def), tc.key)
	}
	require.Equal(t, Some(false), r.OptBool("b"))
	require.Equal(t, Opt[bool]{}, r.OptBool("missing"))
	require.NoError(t, r.Err())
}

func TestExtDecoderKeepsTheFirstFailure(t *testing.T) {
	r := ReadExt(Ext{{"id", "abc"}, {"name", ""}, {"big", "3000000000"}})
	require.Empty(t, r.String("name"))
	require.NoError(t, r.Err(), "an empty text is there")
	require.Zero(t, r.Int64("id"))
	require.Empty(t, r.String("missing"))
	require.EqualError(t, r.Err(), `id: not an integer: "abc"`)
	var field *FieldError
	require.ErrorAs(t, r.Err(), &field)
	require.Equal(t, "id", field.Field)

	r = ReadExt(nil)
	r.Int32("brokerId")
	require.EqualError(t, r.Err(), "the field brokerId is missing")

	r = ReadExt(Ext{{"big", "3000000000"}, {"long", strings.Repeat("9", 5000)}})
	require.Zero(t, r.Int32("big"))
	require.EqualError(t, r.Err(), `big: out of range: "3000000000"`)
	r = ReadExt(Ext{{"long", strings.Repeat("x", 5000)}})
	r.Int64("long")
	require.Less(t, len(r.Err().Error()), 200, "what a peer sent must not fill the answer")
	require.False(t, errors.Is(r.Err(), ErrNamespaceOrKeyNull))
}

func TestExtDecoderOptionalNumbers(t *testing.T) {
	r := ReadExt(Ext{{"good", "-7"}, {"bad", "x"}, {"empty", ""}, {"big", "9999999999"}})
	require.EqualValues(t, -7, r.OptInt32("good", 1))
	require.EqualValues(t, -7, r.MaybeInt64("good").Or(1))
	require.EqualValues(t, 1, r.OptInt32("bad", 1))
	require.EqualValues(t, 1, r.MaybeInt64("empty").Or(1))
	require.EqualValues(t, 1, r.MaybeInt64("missing").Or(1))
	require.EqualValues(t, 1, r.OptInt32("big", 1))
	require.Equal(t, Some(int64(9999999999)), r.MaybeInt64("big"))
	require.Equal(t, Opt[int32]{}, r.MaybeInt32("big"))
	require.NoError(t, r.Err())
}
