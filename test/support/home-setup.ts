import { scratch } from './scratch.ts'

// Marks of stores and what was accepted are kept in the user's home: everything that one test file starts has the same, and none has the tester's own.
process.env['HOME'] = scratch()
for (const name of ['XDG_STATE_HOME', 'XDG_CONFIG_HOME', 'XDG_CACHE_HOME', 'XDG_DATA_HOME']) delete process.env[name]
