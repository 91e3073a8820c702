import type { GenerateRequest, GenerateResponseData, ToolRequestPart } from 'genkit';

/** Requests that were recorded, and by whom: two middlewares see the same request. */
const recordedBy = new WeakMap<ToolRequestPart, Set<object>>();

/** What the model asked for that is not there. Genkit fails the whole generation for it before any tool hook. */
export function unknownToolRequests(
  request: GenerateRequest,
  response: GenerateResponseData,
): ToolRequestPart[] {
  const known = new Set(request.tools?.map(({ name }) => name));
  return (response.message?.content ?? []).filter(
    (part): part is ToolRequestPart => part.toolRequest !== undefined && !known.has(part.toolRequest.name),
  );
}

/** Whether this recorder has not seen the request before. */
export function isNewTo(recorder: object, part: ToolRequestPart): boolean {
  const recorders = recordedBy.get(part) ?? new Set();
  recordedBy.set(part, recorders);
  const isNew = !recorders.has(recorder);
  recorders.add(recorder);
  return isNew;
}
