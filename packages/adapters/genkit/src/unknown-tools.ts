import type { GenerateRequest, GenerateResponseData, ToolRequestPart } from 'genkit';

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
