// The clock functions of Lua's `os`: dates as text or tables, and seconds. Reading the clock changes nothing.

import type { Cell, HostFunction } from "../vm/cell.ts";
import { TYPE } from "../vm/stack.ts";

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

/** Seconds since the cell's program began, as a stand-in for processor time. */
export const clock: HostFunction = (cell) => {
  cell.pushNumber(performance.now() / 1000);
  return 1;
};

/** `os.time(table?)`: whole seconds since 1970; the table is local time. */
export const time: HostFunction = (cell) => {
  if (cell.type(1) !== TYPE.table) {
    cell.pushNumber(Math.floor(Date.now() / 1000));
    return 1;
  }
  const field = (name: string, otherwise: number | null): number => {
    const type = cell.pushMember(1, name);
    const value = Math.trunc(cell.number(-1));
    cell.pop(1);
    if (type === TYPE.number || type === TYPE.string) return value;
    return otherwise ?? cell.raise(`field '${name}' missing in date table`);
  };
  const date = new Date(
    field("year", null),
    field("month", null) - 1,
    field("day", null),
    field("hour", 12),
    field("min", 0),
    field("sec", 0),
  );
  cell.pushNumber(Math.floor(date.getTime() / 1000));
  return 1;
};

/** `os.date(format?, time?)`: `!` for UTC, `*t` for a table, else the conversions of C. */
export const date: HostFunction = (cell) => {
  const given = cell.type(1) <= TYPE.nil
    ? "%c"
    : cell.text(1) ?? cell.raise("bad argument #1 to 'date' (string expected)");
  const seconds = cell.type(2) <= TYPE.nil ? Date.now() / 1000 : cell.number(2);
  const utc = given.startsWith("!");
  const moment = momentOf(seconds, utc) ?? cell.raise("the date lies outside the years that can be shown");
  const format = utc ? given.slice(1) : given;
  if (format.startsWith("*t")) pushTable(cell, moment);
  else {
    cell.spend(format.length);
    cell.pushText(
      format.replace(/%(.?)/gs, (_, letter: string) => conversion(letter, moment) ?? `%${letter}`),
    );
  }
  return 1;
};

interface Moment {
  readonly year: number;
  /** 0 to 11. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** 0 = Sunday. */
  readonly weekday: number;
  /** 0 = the first of January. */
  readonly yearday: number;
  /** Minutes east of Greenwich. */
  readonly offset: number;
}

function momentOf(seconds: number, utc: boolean): Moment | null {
  const date = new Date(Math.floor(seconds) * 1000);
  if (Number.isNaN(date.getTime())) return null;
  const offset = utc ? 0 : -date.getTimezoneOffset();
  const shown = new Date(date.getTime() + offset * 60_000);
  const year = shown.getUTCFullYear();
  return {
    year,
    month: shown.getUTCMonth(),
    day: shown.getUTCDate(),
    hour: shown.getUTCHours(),
    minute: shown.getUTCMinutes(),
    second: shown.getUTCSeconds(),
    weekday: shown.getUTCDay(),
    yearday: Math.floor((shown.getTime() - Date.UTC(year, 0, 1)) / 86_400_000),
    offset,
  };
}

function pushTable(cell: Cell, moment: Moment): void {
  cell.pushTable();
  const members: Record<string, number> = {
    year: moment.year,
    month: moment.month + 1,
    day: moment.day,
    hour: moment.hour,
    min: moment.minute,
    sec: moment.second,
    wday: moment.weekday + 1,
    yday: moment.yearday + 1,
  };
  for (const [name, value] of Object.entries(members)) {
    cell.pushNumber(value);
    cell.setMember(-2, name);
  }
  cell.pushBoolean(false);
  cell.setMember(-2, "isdst");
}

/** The text of one conversion letter, or null for a letter without meaning. */
function conversion(letter: string, moment: Moment): string | null {
  const { year, month, day, hour, minute, second, weekday, yearday } = moment;
  const two = (value: number, fill = "0") => String(value).padStart(2, fill);
  const twelve = hour % 12 === 0 ? 12 : hour % 12;
  const again = (format: string) =>
    format.replace(/[A-Za-z]/g, (inner) => conversion(inner, moment) ?? inner);
  switch (letter) {
    case "a":
      return DAYS[weekday]!.slice(0, 3);
    case "A":
      return DAYS[weekday]!;
    case "b":
    case "h":
      return MONTHS[month]!.slice(0, 3);
    case "B":
      return MONTHS[month]!;
    case "c":
      return `${again("a b")} ${two(day, " ")} ${again("T Y")}`;
    case "C":
      return two(Math.floor(year / 100));
    case "d":
      return two(day);
    case "D":
    case "x":
      return again("m/d/y");
    case "e":
      return two(day, " ");
    case "F":
      return again("Y-m-d");
    case "H":
      return two(hour);
    case "I":
      return two(twelve);
    case "j":
      return String(yearday + 1).padStart(3, "0");
    case "m":
      return two(month + 1);
    case "M":
      return two(minute);
    case "n":
      return "\n";
    case "p":
      return hour < 12 ? "AM" : "PM";
    case "r":
      return again("I:M:S p");
    case "R":
      return again("H:M");
    case "S":
      return two(second);
    case "t":
      return "\t";
    case "T":
    case "X":
      return again("H:M:S");
    case "u":
      return String(weekday === 0 ? 7 : weekday);
    case "U":
      return two(Math.floor((yearday + 7 - weekday) / 7));
    case "w":
      return String(weekday);
    case "W":
      return two(Math.floor((yearday + 7 - ((weekday + 6) % 7)) / 7));
    case "y":
      return two(((year % 100) + 100) % 100);
    case "Y":
      return String(year);
    case "z":
      return `${moment.offset < 0 ? "-" : "+"}${two(Math.floor(Math.abs(moment.offset) / 60))}${
        two(Math.abs(moment.offset) % 60)
      }`;
    case "Z":
      return moment.offset === 0 ? "UTC" : "";
    case "%":
      return "%";
    default:
      return null;
  }
}
