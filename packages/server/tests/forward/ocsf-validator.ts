import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Attribute {
  readonly type: string;
  readonly object?: string;
  readonly isArray?: boolean;
  readonly isRequired?: boolean;
  readonly profile?: string;
  /** Captions by value. */
  readonly enum?: Readonly<Record<string, string>>;
  /** Attribute with the caption of the value. */
  readonly sibling?: string;
}

interface Shape {
  readonly attributes: Readonly<Record<string, Attribute>>;
  readonly atLeastOne?: readonly string[];
}

interface Subset {
  readonly version: string;
  readonly classes: Readonly<Record<string, Shape>>;
  readonly objects: Readonly<Record<string, Shape>>;
}

/**
 * The classes and objects of OCSF 1.8.0 that the server uses, with all their attributes: type, requirement, profile,
 * values and captions, as the schema's `dictionary.json`, `events`, `objects` and `profiles` define them together.
 */
const subset = JSON.parse(
  readFileSync(join(import.meta.dirname, 'ocsf-1.8.0-subset.json'), 'utf8'),
) as Subset;

const classes: Readonly<Record<number, string>> = { 6003: 'api_activity', 2004: 'detection_finding' };

/** Returns the problems of an event of OCSF. */
export function ocsfProblems(event: Readonly<Record<string, unknown>>): string[] {
  const shape = subset.classes[classes[event.class_uid as number] ?? ''];
  if (!shape) return [`class_uid ${event.class_uid} is not known`];
  const { version, profiles } = event.metadata as { version: string; profiles: string[] };
  if (version !== subset.version) return [`metadata.version is ${version}, not ${subset.version}`];
  return problemsOf(event, shape, profiles, '');
}

function problemsOf(value: unknown, shape: Shape, profiles: readonly string[], path: string): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [`${path} is not an object`];
  const fields = value as Record<string, unknown>;
  const problems: string[] = [];
  for (const [name, { isRequired, profile }] of Object.entries(shape.attributes)) {
    const applies = profile === undefined || profiles.includes(profile);
    if (isRequired && applies && fields[name] === undefined) problems.push(`${path}.${name} is missing`);
  }
  if (shape.atLeastOne && !shape.atLeastOne.some((name) => fields[name] !== undefined)) {
    problems.push(`${path} has none of ${shape.atLeastOne.join(', ')}`);
  }
  for (const [name, member] of Object.entries(fields)) {
    const attribute = shape.attributes[name];
    const at = `${path}.${name}`;
    if (!attribute) problems.push(`${at} is not an attribute`);
    else if (attribute.profile !== undefined && !profiles.includes(attribute.profile))
      problems.push(`${at} needs the profile ${attribute.profile}`);
    else if (attribute.isArray) {
      if (!Array.isArray(member)) problems.push(`${at} is not an array`);
      else for (const item of member) problems.push(...valueProblems(item, attribute, profiles, at));
    } else problems.push(...valueProblems(member, attribute, profiles, at));
    if (attribute?.enum && attribute.sibling !== undefined && member !== 99) {
      const caption = fields[attribute.sibling];
      const expected = attribute.enum[String(member)];
      if (caption !== undefined && caption !== expected)
        problems.push(`${path}.${attribute.sibling} is ${caption}, not ${expected}`);
    }
  }
  return problems;
}

function valueProblems(
  value: unknown,
  { type, object, enum: values }: Attribute,
  profiles: readonly string[],
  path: string,
): string[] {
  if (type === 'object_t') {
    if (object === 'object') return typeof value === 'object' ? [] : [`${path} is not an object`];
    const shape = subset.objects[object ?? ''];
    return shape ? problemsOf(value, shape, profiles, path) : [`${path}: ${object} is not in the subset`];
  }
  if (values && values[String(value)] === undefined) return [`${path} ${value} is not a value`];
  if (type === 'json_t') return [];
  const isWhole = ['integer_t', 'long_t', 'timestamp_t', 'port_t'].includes(type);
  const expected = type === 'boolean_t' ? 'boolean' : isWhole || type === 'float_t' ? 'number' : 'string';
  if (typeof value !== expected) return [`${path} is not of type ${type}`];
  return isWhole && !Number.isSafeInteger(value) ? [`${path} is not a whole number`] : [];
}
