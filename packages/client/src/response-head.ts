/** Status and headers of an answer, as either transport has them. */
export interface ResponseHead {
  readonly status: number;
  /** One header by its lower-case name; several of one name joined by `, `. */
  header(name: string): string | undefined;
  /** All headers in the platform's own form. */
  toHeaders(): Headers;
}
