package protocol

import (
	"slices"
	"strconv"
	"strings"
)

// Language tells what the sender of a command is written in. JSON headers carry its name, binary headers
// its number.
//
// Source: spec/remoting.md §2.3 (LanguageCode).
type Language uint8

// Languages. The value of a command without any is LanguageJava, as in the original.
const (
	LanguageJava   Language = 0
	LanguageCPP    Language = 1
	LanguageDotNet Language = 2
	LanguagePython Language = 3
	LanguageDelphi Language = 4
	LanguageErlang Language = 5
	LanguageRuby   Language = 6
	LanguageOther  Language = 7
	LanguageHTTP   Language = 8
	LanguageGo     Language = 9
	LanguagePHP    Language = 10
	LanguageOMS    Language = 11
	LanguageRust   Language = 12
	LanguageNodeJS Language = 13 // NODE_JS; not known to 4.9

	// LanguageUnknown stands for null: a name or number that is not in the list.
	LanguageUnknown Language = 0xFF
)

var languageNames = [...]string{
	"JAVA", "CPP", "DOTNET", "PYTHON", "DELPHI", "ERLANG", "RUBY", "OTHER", "HTTP", "GO", "PHP", "OMS", "RUST", "NODE_JS",
}

// String returns the original's name, such as "GO", or the number of an unknown language.
func (l Language) String() string {
	if int(l) < len(languageNames) {
		return languageNames[l]
	}
	return strconv.Itoa(int(l))
}

// languageOf returns the language with a number, LanguageUnknown if there is none.
func languageOf(number byte) Language {
	if int(number) < len(languageNames) {
		return Language(number)
	}
	return LanguageUnknown
}

// languageNamed returns the language with a name in any letter case, LanguageUnknown if there is none.
func languageNamed(name string) Language {
	if i := slices.Index(languageNames[:], name); i >= 0 {
		return Language(i)
	}
	for i, known := range languageNames {
		if strings.EqualFold(known, name) {
			return Language(i)
		}
	}
	return LanguageUnknown
}
