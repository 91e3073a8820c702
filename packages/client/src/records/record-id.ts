/** Identifier of a record, as a service has it. A number must be a safe integer, because others lose digits in JSON. */
export type RecordId = string | number;
