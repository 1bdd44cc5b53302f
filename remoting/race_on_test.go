//go:build race

package remoting

// raceEnabled tells tests to do less, as everything takes longer.
const raceEnabled = true
