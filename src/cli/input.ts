import { readNamed } from '../core/files.ts'
import { Problem } from '../core/problem.ts'

const LARGEST = 16 * 1024 * 1024

/** Reads a text someone names on the command line, `-` for standard input; to the last byte, a mark at its beginning included. */
export async function readInput(file: string): Promise<string> {
  const bytes = file === '-' ? await standardInput() : fromFile(file)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Problem('bad_input', `${spoken(file)} is not UTF-8`, 'Save it as UTF-8.')
  }
}

/** Asks a person at the terminal; undefined at the end of input or on Ctrl-C. */
export async function askPerson(question: string): Promise<string | undefined> {
  const { createInterface } = await import('node:readline')
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  return await new Promise(resolve => {
    lines.once('close', () => resolve(undefined))
    lines.question(question, answer => {
      resolve(answer)
      lines.close()
    })
  })
}

function fromFile(file: string): Buffer {
  try {
    // The user's own choice: it may be a link, or a pipe that a shell has made.
    const bytes = readNamed(file, LARGEST + 1, true)
    if (bytes.length > LARGEST) throw tooLarge(file)
    return bytes
  } catch (error) {
    if (error instanceof Problem) throw error
    throw new Problem(
      'bad_input',
      `${file} cannot be read: ${(error as Error).message}`,
      'Name a file that can be read.',
      { file },
    )
  }
}

async function standardInput(): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin) {
    chunks.push(chunk as Buffer)
    size += (chunk as Buffer).length
    if (size > LARGEST) throw tooLarge('-')
  }
  return Buffer.concat(chunks)
}

function tooLarge(file: string): Problem {
  return new Problem('bad_input', `${spoken(file)} is larger than 16 MiB`, 'Send it in parts.')
}

function spoken(file: string): string {
  return file === '-' ? 'standard input' : file
}
