/**
 * The OpenAPI 3.1 document, derived from the endpoint table and the schemas.
 *
 * @packageDocumentation
 */

import * as z from 'zod';
import {
  createDocument,
  type ZodOpenApiHeadersObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from 'zod-openapi';
import { contract, type EndpointSchemas } from './contract.ts';
import { type Endpoint, type EndpointName, endpointNames, endpoints, type Resource } from './endpoints.ts';
import { type ErrorCode, errorCodes } from './error-codes.ts';
import { fieldDescriptions } from './field-descriptions.ts';
import { headers, maxWaitSeconds, webhookHeaders } from './limits.ts';
import { deliveryExamples, examples } from './openapi-examples.ts';
import { codeSamples, deliveries, operations } from './openapi-operations.ts';
import { pendingAction } from './schemas/pending-action.ts';
import { errorEnvelope } from './schemas/resource.ts';
import { type WebhookEventType, webhookEvent } from './schemas/webhook-event.ts';

/** Options for {@link openApiDocument}. */
export interface OpenApiOptions {
  /** Base URL, such as `https://actlog.example.com`. By default relative to the address of the document. */
  readonly serverUrl?: string;
  /** Version of the document; `1.0.0` by default. */
  readonly version?: string;
}

const json = 'application/json';

const tags: Record<Resource, string> = {
  events: 'Ingest the activity of agents.',
  sessions: 'Read sessions, their risk and their export.',
  agents: 'Register and read agents.',
  policies: 'Write policies and check actions against them.',
  guardian: 'Decide held actions.',
  notificationChannels: 'Webhooks.',
};

/** Conflict codes by endpoint. Endpoints with an idempotency key also have `IDEMPOTENCY_KEY_REUSED`. */
const conflicts: { readonly [Name in EndpointName]?: readonly ErrorCode[] } = {
  'agents.create': ['ALREADY_EXISTS'],
  'policies.update': ['POLICY_ARCHIVED'],
  'policies.check': ['ACTION_MISMATCH'],
  'guardian.pendingActions.decide': ['ALREADY_DECIDED', 'ACTION_EXPIRED'],
};

const text = { type: 'string' } as const;

const requestId: ZodOpenApiHeadersObject = {
  [headers.requestId]: { description: "Identifies the request in the server's logs.", schema: text },
};

/** Success headers that only some endpoints send. */
const ownHeaders: { readonly [Name in EndpointName]?: ZodOpenApiHeadersObject } = {
  'sessions.export': {
    'Content-Disposition': { description: 'A file name for the document.', schema: text },
  },
  'policies.check': {
    'Preference-Applied': { description: 'The preference that was applied (RFC 7240).', schema: text },
  },
};

/** Describes an error response and lists its codes; by default all codes of the status. */
function errorResponse(
  status: number,
  description: string,
  extraHeaders: ZodOpenApiHeadersObject = {},
  codes = (Object.keys(errorCodes) as ErrorCode[]).filter((code) => errorCodes[code] === status),
): ZodOpenApiResponseObject {
  return {
    description: `${description} ${codes.map((code) => `\`${code}\``).join(', ')}.`,
    headers: { ...requestId, ...extraHeaders },
    content: { [json]: { schema: errorEnvelope } },
  };
}

const retryAfter: ZodOpenApiHeadersObject = {
  'Retry-After': {
    description: 'Delay in seconds before the next attempt.',
    schema: { type: 'integer', minimum: 1 },
  },
};

const challenge: ZodOpenApiHeadersObject = {
  'WWW-Authenticate': { description: 'Authentication scheme: `Bearer`.', schema: text },
};

const idempotencyKey = {
  in: 'header',
  name: headers.idempotencyKey,
  required: false,
  description: 'Makes the request safe to retry for 24 hours.',
  schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
} as const;

const prefer = {
  in: 'header',
  name: headers.prefer,
  required: false,
  description:
    `\`wait=${maxWaitSeconds}\` delays the response until a decision, for at most that many seconds; ` +
    '`dry-run` makes the check leave nothing behind (RFC 7240).',
  schema: { type: 'string' },
} as const;

function operation(
  name: EndpointName,
  endpoint: Endpoint,
  schemas: EndpointSchemas,
): ZodOpenApiOperationObject {
  const requestHeaders = [
    ...(endpoint.idempotencyKey ? [idempotencyKey] : []),
    ...(name === 'policies.check' ? [prefer] : []),
  ];
  const conflicting = [
    ...(conflicts[name] ?? []),
    ...(endpoint.idempotencyKey ? (['IDEMPOTENCY_KEY_REUSED'] as const) : []),
  ];
  const { body, response } = examples[name];
  return {
    operationId: name,
    ...operations[name],
    tags: [name.slice(0, name.indexOf('.'))],
    'x-required-scope': endpoint.scope,
    'x-codeSamples': codeSamples(name, endpoint),
    requestParams: { path: schemas.params, query: schemas.query },
    ...(requestHeaders.length > 0 && { parameters: requestHeaders }),
    ...(schemas.body && {
      requestBody: { required: true, content: { [json]: { schema: schemas.body, example: body } } },
    }),
    responses: {
      [endpoint.success]: {
        description: 'Success',
        headers: { ...requestId, ...ownHeaders[name] },
        content: { [json]: { schema: schemas.response.sent, example: response } },
      },
      400: errorResponse(400, 'The request fails validation:'),
      401: errorResponse(401, 'The API key is invalid or missing:', challenge),
      403: errorResponse(403, `The API key lacks the scope \`${endpoint.scope}\`:`),
      ...(endpoint.path.includes(':id') && { 404: errorResponse(404, 'The resource does not exist:') }),
      ...(conflicting.length > 0 && {
        409: errorResponse(409, 'The request conflicts with the current state:', {}, conflicting),
      }),
      ...(endpoint.body && {
        413: errorResponse(413, 'The body is too large:'),
        415: errorResponse(415, 'The body is not JSON:'),
      }),
      429: errorResponse(
        429,
        'The rate limit of the key, or a quota of the tenant, is exceeded:',
        retryAfter,
      ),
      500: errorResponse(500, 'An internal error occurred:'),
      503: errorResponse(503, 'The service cannot handle the request at the moment:', retryAfter),
    },
  };
}

/** Removes bounds that only state the range of a JavaScript integer. */
function dropBoundsOfNumbers(schema: { minimum?: number; maximum?: number }): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}

/** Creates the OpenAPI 3.1 document of the service. */
export function openApiDocument({ serverUrl = '/', version = '1.0.0' }: OpenApiOptions = {}): object {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const name of endpointNames) {
    const endpoint = endpoints[name];
    const path = endpoint.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] ??= {};
    paths[path][endpoint.method.toLowerCase()] = operation(name, endpoint, contract[name]);
  }
  const document = createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: 'Agent Activity Monitoring Service',
        version,
        description: 'Records the activity of AI agents and assesses its risk.',
        contact: { name: 'actlog', url: 'https://github.com/actlog/actlog' },
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: serverUrl }],
      security: [{ apiKey: [] }],
      tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
      components: {
        securitySchemes: {
          apiKey: {
            type: 'http',
            scheme: 'bearer',
            description: 'A tenant API key: al_live_… or al_test_….',
          },
        },
      },
      paths: paths as ZodOpenApiPathsObject,
      webhooks,
    },
    { override: ({ jsonSchema }) => dropBoundsOfNumbers(jsonSchema) },
  );
  describeFields(document);
  return document;
}

/** Part of the document that can have a description. */
interface Field {
  description?: string;
}

/** Parts of the document that contain fields. */
interface Document {
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly properties?: Readonly<Record<string, Field>> }>>;
  };
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly operationId: string;
            readonly parameters?: readonly (Field & { readonly name: string })[];
          }
        >
      >
    >
  >;
}

/** Adds a description to each field and parameter of the document, from the comment where it is declared. */
function describeFields(document: object): void {
  const { components, paths } = document as Document;
  for (const [schema, { properties = {} }] of Object.entries(components.schemas)) {
    for (const [name, property] of Object.entries(properties)) describe(property, schema, name);
  }
  for (const { operationId, parameters = [] } of Object.values(paths).flatMap((path) =>
    Object.values(path),
  )) {
    for (const parameter of parameters) describe(parameter, operationId, parameter.name);
  }
}

/** Sets the description of one field. `place` is the name of a schema or an operation. */
function describe(field: Field, place: string, name: string): void {
  const description = fieldDescriptions[place]?.[name];
  if (description !== undefined) field.description = description;
}

/** Returns the schema name of a delivery's body: `PolicyMatchedMessage` for `policy.matched`. */
function webhookMessageName(type: WebhookEventType): string {
  return `${type.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}Message`;
}

const descriptions: Record<keyof typeof webhookHeaders, string> = {
  id: 'Unique id of the message, the same for all attempts.',
  timestamp: 'Time at which this attempt was sent, in Unix seconds.',
  signature: 'One or more signatures, `v1,<base64>`, separated by spaces.',
};

const signed = Object.entries(webhookHeaders).map(([name, header]) => ({
  in: 'header' as const,
  name: header,
  required: true,
  description: descriptions[name as keyof typeof webhookHeaders],
  schema: { type: 'string' as const },
}));

/** Webhook deliveries (Standard Webhooks), by type. */
const webhooks: ZodOpenApiPathsObject = Object.fromEntries(
  webhookEvent.options.map(({ shape }) => {
    const type = shape.type.value;
    // The service sends complete records.
    const data = shape.data === pendingAction.accepted ? pendingAction.sent : shape.data;
    const schema = z.looseObject({ ...shape, data }).meta({ id: webhookMessageName(type) });
    const delivery = {
      operationId: `webhooks.${type}`,
      ...deliveries[type],
      tags: ['notificationChannels'],
      security: [],
      parameters: signed,
      requestBody: {
        required: true,
        content: { 'application/json': { schema, example: deliveryExamples[type] } },
      },
      responses: {
        '2XX': { description: 'The delivery was accepted.' },
        410: { description: 'The receiver wants no more deliveries: the webhook is disabled.' },
      },
    };
    return [type, { post: delivery }];
  }),
);
