import { type Attribute, ocsfClasses, ocsfObjects, type Shape } from './ocsf-shapes.ts';

const ocsfVersion = '1.8.0';

const classes: Readonly<Record<number, string>> = { 6003: 'api_activity', 2004: 'detection_finding' };

/** Returns the problems of an event of OCSF. */
export function ocsfProblems(event: Readonly<Record<string, unknown>>): string[] {
  const shape = ocsfClasses[classes[event.class_uid as number] ?? ''];
  if (!shape) return [`class_uid ${event.class_uid} is not known`];
  const { version, profiles } = event.metadata as { version: string; profiles: string[] };
  if (version !== ocsfVersion) return [`metadata.version is ${version}, not ${ocsfVersion}`];
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
    if (attribute?.values && attribute.caption !== undefined && member !== 99) {
      const caption = fields[attribute.caption];
      const expected = attribute.values[String(member)];
      if (caption !== undefined && caption !== expected)
        problems.push(`${path}.${attribute.caption} is ${caption}, not ${expected}`);
    }
  }
  return problems;
}

function valueProblems(
  value: unknown,
  { type, object, values }: Attribute,
  profiles: readonly string[],
  path: string,
): string[] {
  if (object !== undefined) {
    if (object === 'object') return typeof value === 'object' ? [] : [`${path} is not an object`];
    const shape = ocsfObjects[object];
    return shape ? problemsOf(value, shape, profiles, path) : [`${path}: ${object} is not known`];
  }
  if (values && values[String(value)] === undefined) return [`${path} ${value} is not a value`];
  if (type === 'json') return [];
  if (typeof value !== (type === 'integer' ? 'number' : type)) return [`${path} is not of type ${type}`];
  return type === 'integer' && !Number.isSafeInteger(value) ? [`${path} is not a whole number`] : [];
}
