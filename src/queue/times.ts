/** A date or a time of day as people and programs write it, as ISO time in UTC; undefined where it is none. */
export function isoTime(text: string): string | undefined {
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] =
    TIME.exec(text) ?? []
  if (year === undefined || month === undefined || day === undefined) return undefined
  const [, sign, hours = '0', minutes = '0'] = ZONE.exec(zone) ?? []
  const local = Date.UTC(+year, +month - 1, +day, +hour, +minute, +second, Number(fraction.slice(0, 3).padEnd(3, '0')))
  // A month 13 or a day 31 that the month does not have would be taken for a later one.
  const said = `${year}-${month}-${day}T${hour}:${minute}:${second}`
  if (!Number.isFinite(local) || new Date(local).toISOString().slice(0, 19) !== said) return undefined
  const away = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? 1 : -1)
  const time = new Date(local + (sign === undefined ? 0 : away * 60_000))
  const written = time.toISOString()
  return written.length === 24 ? written : undefined
}

/** A time as it stands in the name of a flag. */
export function stampOf(at: string): string {
  return new Date(at).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')
}

/** The time in the name of a flag. */
export function stampTime(stamp: string): string | undefined {
  const [, date = '', time = ''] = /^(\d{8})T(\d{6})$/.exec(stamp) ?? []
  return isoTime(`${date.replace(/(..)(..)$/, '-$1-$2')}T${time.replace(/(..)(..)(..)/, '$1:$2:$3')}Z`)
}

const TIME =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?[ ]?([Zz]|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?)?$/
const ZONE = /^([+-])(\d{2}):?(\d{2})?$/
