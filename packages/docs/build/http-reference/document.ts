import { openApiDocument } from '@actlog/protocol/openapi';

/** JSON schema, with the keywords that the document uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly additionalProperties?: boolean | Schema;
}

/** Parameter of an operation. */
export interface Parameter {
  readonly in: 'path' | 'query' | 'header';
  readonly name: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Content {
  readonly content?: { readonly 'application/json': { readonly schema: Schema; readonly example?: unknown } };
}

/** One response of an operation. */
export interface ResponseObject extends Content {
  readonly description: string;
}

/** One operation, or one webhook message. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly 'x-required-scope'?: string;
  readonly 'x-codeSamples'?: readonly {
    readonly lang: string;
    readonly label: string;
    readonly source: string;
  }[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

interface Document {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** OpenAPI document of the service. */
export const document = openApiDocument() as Document;

/** Returns a schema, or the component that it refers to. */
export function resolved(schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const name = schema.$ref.replace('#/components/schemas/', '');
  const component = document.components.schemas[name];
  if (component === undefined) throw new Error(`The OpenAPI document has no component ${name}.`);
  return { ...component, ...(schema.description === undefined ? {} : { description: schema.description }) };
}
