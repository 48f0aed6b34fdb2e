import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'

// Writes a file anew so many times as some editors do: it is empty for a moment each time.
const [path, times] = process.argv.slice(2)
const text = readFileSync(path!, 'utf8')
const pause = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
for (let n = 0; n < Number(times); n++) {
  const file = openSync(path!, 'w')
  pause(Math.random() * 5)
  writeSync(file, text)
  closeSync(file)
  pause(Math.random() * 5)
}
