import { defineConfig } from 'vitest/config'

/** The real programs and the examples, each with a scripted model on 127.0.0.1. The first run installs what they need: about 2 GB. */
export default defineConfig({
  test: {
    include: ['test/{hosts,examples}/**/*.hosts.ts'],
    setupFiles: ['test/support/home-setup.ts'],
    globalSetup: ['test/support/build-setup.ts', 'test/hosts/programs-setup.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // Much of their time is spent waiting, for the programs and for countdowns.
    maxWorkers: 4,
  },
})
