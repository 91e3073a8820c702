/** Error thrown when an agent's event is not of the documented form. The message never contains its values. */
export class InvalidInputError extends Error {
  override readonly name = 'InvalidInputError';
}

/** Fields of an agent's event, validated as they are read. */
export class EventFields {
  readonly #fields: Readonly<Record<string, unknown>>;

  /** @throws InvalidInputError when the input is not a JSON object */
  constructor(input: unknown) {
    if (typeof input !== 'object' || input === null || Array.isArray(input)) {
      throw new InvalidInputError(
        'The hook event must be a JSON object on stdin: start this command as a hook.',
      );
    }
    this.#fields = input as Record<string, unknown>;
  }

  /** Returns any value. */
  value(name: string): unknown {
    return this.#fields[name];
  }

  /** Returns a text that is not empty; undefined for anything else. */
  optionalText(name: string): string | undefined {
    const value = this.#fields[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  }

  /**
   * Returns the first text that is not empty.
   *
   * @throws InvalidInputError when there is none
   */
  text(...names: readonly string[]): string {
    for (const name of names) {
      const text = this.optionalText(name);
      if (text !== undefined) return text;
    }
    throw new InvalidInputError(
      `The hook event has no ${names.join(' or ')}: the agent's version may be older or newer than this hook supports.`,
    );
  }

  /** Returns the objects of a list; an empty list for anything else. */
  list(name: string): EventFields[] {
    const value = this.#fields[name];
    return Array.isArray(value)
      ? value.filter((item) => typeof item === 'object' && item !== null).map((item) => new EventFields(item))
      : [];
  }
}
