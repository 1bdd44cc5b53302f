package protocol

// Language tells what the sender of a command is written in. JSON headers carry its name, binary headers
// its number.
//
// Source: spec/remoting.md §2.3.
type Language uint8

// Languages, by the original's LanguageCode.
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

	// LanguageUnknown stands for null: no language given, or one that is not in the list.
	LanguageUnknown Language = 0xFF
)
