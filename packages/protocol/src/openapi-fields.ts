import { fieldDescriptions } from './field-descriptions.ts';

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

/** Sets the description of one field. `place` is the name of a schema or an operation. */
function describe(field: Field, place: string, name: string): void {
  const description = fieldDescriptions[place]?.[name];
  if (description !== undefined) field.description = description;
}
