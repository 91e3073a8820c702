import { OriginTracker } from '../../packages/recorder/src/origins/origin-tracker.ts';
import { seededRandom } from '../risk/statistics.ts';

/** Change that a model makes to a value when it copies it. */
type Change = (value: string) => string;

const changes: Readonly<Record<string, Change>> = {
  'as it is': (value) => value,
  'upper case': (value) => value.toUpperCase(),
  'other white space': (value) => `  ${value.replaceAll(' ', '  ')} `,
  quotes: (value) => `"${value}"`,
  'punctuation at the end': (value) => `${value}.`,
  'URL encoding': (value) => encodeURIComponent(value),
  'in a list': (value) => `something else; ${value}`,
};

const syllables = 'ba den fer go hul kim lor mu nes pir quo ras sten tor ul ven wix yar zol'.split(' ');

/** Generator of values of one kind. */
type Maker = (random: () => number) => string;

const whole = (random: () => number, below: number) => Math.floor(random() * below);
const word = (random: () => number) =>
  Array.from({ length: 2 + whole(random, 2) }, () => syllables[whole(random, syllables.length)]).join('');
const name = (random: () => number) => {
  const text = word(random);
  return text[0]?.toUpperCase() + text.slice(1);
};
const digits = (random: () => number, length: number) =>
  Array.from({ length }, () => whole(random, 10)).join('');

const kinds: Readonly<Record<string, Maker>> = {
  name: (random) => `${name(random)} ${name(random)}`,
  'mail address': (random) => `${word(random)}.${word(random)}@${word(random)}.example`,
  URL: (random) => `https://www.${word(random)}.example/${word(random)}/${word(random)}`,
  'account number': (random) =>
    `DE${digits(random, 2)} ${digits(random, 4)} ${digits(random, 4)} ${digits(random, 4)}`,
  amount: (random) => `${1000 + whole(random, 90_000)}.${10 + whole(random, 89)}`,
  date: (random) =>
    `2026-${String(1 + whole(random, 12)).padStart(2, '0')}-${String(1 + whole(random, 28)).padStart(2, '0')}`,
  sentence: (random) => `${name(random)} ${Array.from({ length: 7 }, () => word(random)).join(' ')}`,
};

/** Further changes that apply only to some kinds. */
const ownChanges: Readonly<Record<string, Readonly<Record<string, Change>>>> = {
  URL: { 'without its scheme': (value) => value.slice('https://'.length) },
  'account number': { 'without groups': (value) => value.replaceAll(' ', '') },
  amount: { 'with thousands': (value) => Number(value).toLocaleString('en-US') },
  date: {
    'in words': (value) =>
      new Date(value).toLocaleDateString('en-US', { dateStyle: 'long', timeZone: 'UTC' }),
    'as a time': (value) => `${value}T00:00:00Z`,
  },
  name: { 'last name first': (value) => value.split(' ').reverse().join(', ') },
};

/** Shares in which values of a kind are recognized wrongly. */
export type OriginErrors = {
  /** Percentage of the values from a text that are not recognized, over all changes. */
  readonly missedPercent: number;
  /** The same for values in a field of their own. */
  readonly missedFieldPercent: number;
  /** Percentage of made-up values that are taken for one from a text. */
  readonly inventedPercent: number;
};

const rounds = 400;
const seed = 20261125;

function percent(count: number, of: number): number {
  return Math.round((1000 * count) / of) / 10;
}

/** Measures each kind of value: planted in a text of 300 words, or in a field, and copied as a model would. */
export function originErrors(): Record<string, OriginErrors> {
  return Object.fromEntries(Object.entries(kinds).map(([kind, make]) => [kind, errorsOf(kind, make)]));
}

function errorsOf(kind: string, make: Maker): OriginErrors {
  const random = seededRandom(seed);
  const all = Object.values({ ...changes, ...ownChanges[kind] });
  let [tried, missed, missedFields, invented] = [0, 0, 0, 0];
  for (let round = 0; round < rounds; round += 1) {
    const value = make(random);
    const noise = Array.from({ length: 300 }, () => word(random));
    noise.splice(whole(random, noise.length), 0, value);
    const call = { toolName: 'read', eventId: undefined };
    const texts = new OriginTracker(256 * 1024);
    texts.result(call, noise.join(' '), undefined);
    const fields = new OriginTracker(256 * 1024);
    fields.result(call, { value, other: make(random) }, undefined);
    const isFound = (tracker: OriginTracker, argument: string) =>
      tracker.trace({ argument }).origins.argument?.from === 'tool';
    for (const change of all) {
      tried += 1;
      if (!isFound(texts, change(value))) missed += 1;
      // A list is from a field only if all of its items are.
      if (change !== changes['in a list'] && !isFound(fields, change(value))) missedFields += 1;
      if (isFound(texts, change(make(random)))) invented += 1;
    }
  }
  return {
    missedPercent: percent(missed, tried),
    missedFieldPercent: percent(missedFields, tried),
    inventedPercent: percent(invented, tried),
  };
}
