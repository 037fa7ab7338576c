// The clock functions of Lua's `os`: dates as text or tables, and seconds. They only read the clock.

import { type DateTime, formatted } from "./date_format.ts";
import type { Cell, HostFunction } from "../vm/cell.ts";
import { TYPE } from "../vm/stack.ts";

/** Returns seconds since the program began, in place of processor time. */
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

/** `os.date(format?, time?)`: `!` for UTC, `*t` for a table, else the conversions of C's `strftime`. */
export const date: HostFunction = (cell) => {
  const given = cell.type(1) <= TYPE.nil
    ? "%c"
    : cell.text(1) ?? cell.raise("bad argument #1 to 'date' (string expected)");
  const seconds = cell.type(2) <= TYPE.nil ? Date.now() / 1000 : cell.number(2);
  const utc = given.startsWith("!");
  const dateTime = readDateTime(seconds, utc) ??
    cell.raise("the date is outside the supported years");
  const format = utc ? given.slice(1) : given;
  if (format.startsWith("*t")) pushTable(cell, dateTime);
  else {
    cell.spend(format.length);
    cell.pushText(formatted(format, dateTime));
  }
  return 1;
};

function readDateTime(seconds: number, utc: boolean): DateTime | null {
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

function pushTable(cell: Cell, dateTime: DateTime): void {
  cell.pushTable();
  const members: Record<string, number> = {
    year: dateTime.year,
    month: dateTime.month + 1,
    day: dateTime.day,
    hour: dateTime.hour,
    min: dateTime.minute,
    sec: dateTime.second,
    wday: dateTime.weekday + 1,
    yday: dateTime.yearday + 1,
  };
  for (const [name, value] of Object.entries(members)) {
    cell.pushNumber(value);
    cell.setMember(-2, name);
  }
  cell.pushBoolean(false);
  cell.setMember(-2, "isdst");
}
