import { fieldDescriptions } from './field-descriptions.ts';

/** Something of the document that can be described. */
interface Field {
  description?: string;
}

/** What of the document holds fields. */
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

/** Says in the document what each field and parameter means, in the words of the comment where it is declared. */
export function describeFields(document: object): void {
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

/** `place` is the name of a schema, or of an operation. */
function describe(field: Field, place: string, name: string): void {
  const description = fieldDescriptions[place]?.[name];
  if (description !== undefined) field.description = description;
}
