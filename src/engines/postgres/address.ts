import { Problem } from '../../core/problem.ts'

/** Where a store is: a server and database as `pg` reads it, and our schema in it. */
export interface Address {
  readonly connectionString: string
  readonly schema: string
}

/** Takes `?schema=NAME` out of a URL; everything else in it is for the driver. */
export function addressOf(url: string): Address {
  if (!/^postgres(ql)?:\/\//.test(url)) throw unusable('it does not begin with postgres://')
  const [base = '', query = ''] = url.split(/\?(.*)/s)
  const parameters = new URLSearchParams(query)
  const schema = parameters.get('schema') ?? 'punchlist'
  if (!/^[a-z_][a-z0-9_]{0,50}$/.test(schema)) {
    throw new Problem(
      'bad_input',
      `"${schema}" cannot be the name of a schema`,
      'Use a name of lower case letters, digits and underscores, at most 51 long: ?schema=punchlist.',
      { schema },
    )
  }
  parameters.delete('schema')
  return { connectionString: parameters.size > 0 ? `${base}?${parameters.toString()}` : base, schema }
}

/** The URL itself is not shown: it may hold a password. */
export function unusable(reason: string): Problem {
  return new Problem(
    'store_unreachable',
    `The address of the PostgreSQL server cannot be used: ${reason}`,
    'Write it as postgres://USER:PASSWORD@HOST:5432/DATABASE; characters such as @ or / in a password as %40 or %2F.',
  )
}
