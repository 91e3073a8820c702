import { type EndpointName, endpoints } from '@actlog/protocol';
import { openApiDocument } from '@actlog/protocol/openapi';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

const document = JSON.parse(JSON.stringify(openApiDocument())) as object;

/** The document has keywords of its own beside those of JSON Schema. */
const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
ajv.addSchema(document, 'openapi.json');

const validators = new Map<string, ValidateFunction | undefined>();

/** Returns what is wrong with a response according to the OpenAPI document; an empty list if nothing is. */
export function undocumented(name: EndpointName, status: number, body: unknown): string[] {
  const validate = validatorOf(name, status);
  if (!validate) return [`The document has no response ${status} of ${name}.`];
  validate(body);
  return (validate.errors ?? []).map(
    ({ instancePath, message }) => `${name} ${status}: ${instancePath} ${message}`,
  );
}

function validatorOf(name: EndpointName, status: number): ValidateFunction | undefined {
  const key = `${name} ${status}`;
  if (validators.has(key)) return validators.get(key);
  const { method, path } = endpoints[name];
  const place = [
    'paths',
    path.replaceAll(/:(\w+)/g, '{$1}'),
    method.toLowerCase(),
    'responses',
    String(status),
    'content',
    'application/json',
    'schema',
  ];
  const pointer = place.map((part) => part.replaceAll('/', '~1')).join('/');
  const validator = hasPlace(document, place)
    ? ajv.compile({ $ref: `openapi.json#/${encodeURI(pointer)}` })
    : undefined;
  validators.set(key, validator);
  return validator;
}

function hasPlace(value: unknown, [part, ...rest]: readonly string[]): boolean {
  if (part === undefined) return true;
  return (
    typeof value === 'object' && value !== null && hasPlace((value as Record<string, unknown>)[part], rest)
  );
}
