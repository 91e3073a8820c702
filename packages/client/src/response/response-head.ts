/** Status and headers of a response, independent of the transport. */
export interface ResponseHead {
  readonly status: number;
  /** Returns a header by its lowercase name; repeated headers are joined with `, `. */
  header(name: string): string | undefined;
  /** Returns all headers as the platform's own `Headers`. */
  toHeaders(): Headers;
}
