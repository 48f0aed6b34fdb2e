import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Problem } from '../../src/core/problem.ts'
import { Documents } from '../../src/engines/files/documents.ts'

// Writes a document until the disk is full; then looks what is there, frees some space and goes on.
const root = process.argv[2]!
const documents = new Documents(root, 'tmp')
const path = 'work/s1/todos/_summary.md'
const text = (n: number) => `${n}\n${'x'.repeat(6000)}\nend\n`
mkdirSync(join(root, 'tmp/work/s1/todos'), { recursive: true })
const ballast = Array.from({ length: 8 }, (_, n) => join(root, `ballast-${n}`))
for (const file of ballast) writeFileSync(file, Buffer.alloc(4096))
const refusals: string[] = []
const complain = (error: unknown) => {
  if (!(error instanceof Problem)) throw error
  refusals.push(error.code)
}
let answered = 0
for (; refusals.length === 0; answered++) {
  await documents.write(path, text(answered)).catch(complain)
  try {
    writeFileSync(join(root, `more-${answered}`), 'y'.repeat(3000))
  } catch {
    // Whoever fills the disk does not care.
  }
}
const last = answered - 2
if ((await documents.read(path)) !== text(last)) refusals.push('the old one is not there')
if (readFileSync(join(root, 'tmp', path), 'utf8') !== text(last)) refusals.push('the old one is not whole')
const hindrance = await documents.hindrance('work/s1/todos')
refusals.push(`hindered: ${hindrance?.code}`)
const left = readdirSync(join(root, 'tmp/work/s1/todos'))
if (left.length !== 1) refusals.push(`left: ${left.join(' ')}`)
for (const file of ballast) rmSync(file)
if (await documents.hindrance('work/s1/todos')) refusals.push('still hindered')
await documents.write(path, text(0))
const stored = (await documents.read(path)) === text(0) ? answered : 0
process.stdout.write(JSON.stringify({ answered, stored, refusals, afterwards: 'went on' }))
