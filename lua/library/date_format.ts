// Formats dates like `strftime` of C, in the C locale.

import { own } from "../../base/is_object.ts";

/** A moment in the calendar and time of one time zone. */
export interface DateTime {
  readonly year: number;
  /** Month, 0 to 11. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** Day of the week; 0 is Sunday. */
  readonly weekday: number;
  /** Day of the year; 0 is January 1. */
  readonly yearday: number;
  /** Offset of the time zone in minutes east of Greenwich. */
  readonly offset: number;
}

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/** Formats a date; an unknown conversion stays unchanged, including its `%`. */
export function formatted(format: string, dateTime: DateTime): string {
  return format.replace(/%(.?)/gs, (whole, letter: string) => own(CONVERSIONS, letter)?.(dateTime) ?? whole);
}

function padded(value: number, { width = 2, fill = "0" } = {}): string {
  return String(value).padStart(width, fill);
}

/** Returns the week of the year; week 1 begins on the first weekday with the number `first` (0 for Sunday). */
function week({ yearday, weekday }: DateTime, first: number): string {
  return padded(Math.floor((yearday + 7 - ((weekday + 7 - first) % 7)) / 7));
}

/** Returns a conversion that is short for a format made of other conversions. */
function as(format: string): (dateTime: DateTime) => string {
  return (dateTime) => formatted(format, dateTime);
}

const CONVERSIONS: Readonly<Record<string, (dateTime: DateTime) => string>> = {
  a: ({ weekday }) => DAYS[weekday]!.slice(0, 3),
  A: ({ weekday }) => DAYS[weekday]!,
  b: ({ month }) => MONTHS[month]!.slice(0, 3),
  B: ({ month }) => MONTHS[month]!,
  c: as("%a %b %e %T %Y"),
  C: ({ year }) => padded(Math.floor(year / 100)),
  d: ({ day }) => padded(day),
  D: as("%m/%d/%y"),
  e: ({ day }) => padded(day, { fill: " " }),
  F: as("%Y-%m-%d"),
  h: as("%b"),
  H: ({ hour }) => padded(hour),
  I: ({ hour }) => padded(hour % 12 === 0 ? 12 : hour % 12),
  j: ({ yearday }) => padded(yearday + 1, { width: 3 }),
  m: ({ month }) => padded(month + 1),
  M: ({ minute }) => padded(minute),
  n: () => "\n",
  p: ({ hour }) => hour < 12 ? "AM" : "PM",
  r: as("%I:%M:%S %p"),
  R: as("%H:%M"),
  S: ({ second }) => padded(second),
  t: () => "\t",
  T: as("%H:%M:%S"),
  u: ({ weekday }) => String(weekday === 0 ? 7 : weekday),
  U: (dateTime) => week(dateTime, 0),
  w: ({ weekday }) => String(weekday),
  W: (dateTime) => week(dateTime, 1),
  x: as("%m/%d/%y"),
  X: as("%H:%M:%S"),
  y: ({ year }) => padded(((year % 100) + 100) % 100),
  Y: ({ year }) => String(year),
  z: ({ offset }) => {
    const minutes = Math.abs(offset);
    return `${offset < 0 ? "-" : "+"}${padded(Math.floor(minutes / 60))}${padded(minutes % 60)}`;
  },
  Z: ({ offset }) => offset === 0 ? "UTC" : "",
  "%": () => "%",
};
