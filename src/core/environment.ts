type Environment = Readonly<Record<string, string | undefined>>

/**
 * What the commands of a workspace find in their environment: what a program
 * needs to find itself, its tools and its language. Everything else may be a
 * credential, and is passed on only by name. Addresses of proxies and of package
 * registries hold passwords, and options of interpreters load code.
 */
const PASSED = new Set(
  `PATH HOME USER LOGNAME SHELL HOSTNAME LANG LANGUAGE TERM COLORTERM COLUMNS LINES TZ TMPDIR TMP TEMP
  CI FORCE_COLOR NO_COLOR CLICOLOR CLICOLOR_FORCE NODE_ENV SOURCE_DATE_EPOCH
  NVM_DIR NVM_BIN FNM_DIR FNM_MULTISHELL_PATH VOLTA_HOME N_PREFIX PNPM_HOME COREPACK_HOME BUN_INSTALL DENO_DIR DENO_INSTALL
  ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR MISE_CONFIG_DIR MISE_CACHE_DIR
  PYENV_ROOT PYENV_VERSION VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV CONDA_EXE PYTHONHOME PYTHONPATH POETRY_HOME UV_CACHE_DIR
  RBENV_ROOT RBENV_VERSION GEM_HOME GEM_PATH BUNDLE_PATH
  CARGO_HOME CARGO_TARGET_DIR RUSTUP_HOME RUSTUP_TOOLCHAIN
  GOPATH GOROOT GOBIN GOCACHE GOMODCACHE GOTOOLCHAIN
  JAVA_HOME JDK_HOME GRADLE_HOME GRADLE_USER_HOME M2_HOME MAVEN_HOME SDKMAN_DIR ANDROID_HOME ANDROID_SDK_ROOT
  DOTNET_ROOT NUGET_PACKAGES FLUTTER_ROOT COMPOSER_HOME STACK_ROOT
  NIX_PATH NIX_PROFILES NIX_SSL_CERT_FILE HOMEBREW_PREFIX HOMEBREW_CELLAR HOMEBREW_REPOSITORY
  SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS LD_LIBRARY_PATH PKG_CONFIG_PATH CC CXX
  PLAYWRIGHT_BROWSERS_PATH PUPPETEER_CACHE_DIR CYPRESS_CACHE_FOLDER
  SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) PROGRAMW6432
  COMMONPROGRAMFILES USERPROFILE USERNAME USERDOMAIN HOMEDRIVE HOMEPATH PUBLIC OS NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE`.split(
    /\s+/,
  ),
)
const PASSED_PREFIX = /^(?:LC_|XDG_|PUNCHLIST_)/
const SECRET =
  /(?:^|_)(?:TOKEN|SECRETS?|PASSWORD|PASSWD|CREDENTIALS?|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY)(?:_|$)|^PUNCHLIST_TRUST$/i
/** Our own variables that no command gets, named or not. */
const NEVER = new Set(['PUNCHLIST_TOKEN', 'PUNCHLIST_MCP_TOKEN', 'PUNCHLIST_TRUST'])
/** Set by every shell itself: not reported as withheld. */
const UNMISSED = new Set(['PWD', 'OLDPWD', 'SHLVL', '_'])
const PASSWORD_IN_URL = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*:[^/?#]*@/i

export interface Passed {
  readonly env: Readonly<Record<string, string>>
  /** The names of variables that are set here and were not passed on. */
  readonly withheld: readonly string[]
}

/** The environment of a command; `named`: variables that it gets besides. */
export function commandEnvironment(env: Environment, named: readonly string[] = []): Passed {
  const passed: Record<string, string> = {}
  const withheld: string[] = []
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue
    if (isPassed(name, value) || (named.includes(name) && !NEVER.has(name))) passed[name] = value
    else if (!UNMISSED.has(name)) withheld.push(name)
  }
  return { env: passed, withheld: withheld.toSorted() }
}

function isPassed(name: string, value: string): boolean {
  // Names have no case there.
  const known = process.platform === 'win32' ? name.toUpperCase() : name
  if (PASSED.has(known)) return true
  return PASSED_PREFIX.test(known) && !SECRET.test(known) && !PASSWORD_IN_URL.test(value)
}

const MOST_NAMES = 10
const LONGEST_NAME = 80

/**
 * Says which variables a failed command did not get: those that its output
 * mentions, or else how many there are, with the first of them. Empty where
 * there is nothing to say. `mentioned`: only where its output mentions one.
 */
export function toldWithheld(withheld: readonly string[], output: string, mentioned = false): string {
  const names = withheld.filter(name => /^\w+$/.test(name) && name.length <= LONGEST_NAME)
  const words = new Set(output.match(/\w+/g))
  const found = names.filter(name => words.has(name))
  if (found.length > 0) return `not passed on to it: ${listed(found, found.length)}`
  if (mentioned || withheld.length === 0) return ''
  const count = withheld.length === 1 ? '1 variable' : `${withheld.length} variables`
  return `${count} of the environment not passed on to it: ${listed(names, withheld.length)}`
}

function listed(names: readonly string[], all: number): string {
  const shown = names.slice(0, MOST_NAMES)
  return `${shown.join(', ')}${all > shown.length ? ` and ${all - shown.length} more` : ''}`
}
