/** One request and its answer, whoever carries them: this process, or the executor of an environment. */

/** A request; headers are exactly what is sent. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
}

/** An answer whose body has not been read yet; one of the last two has to be used. */
export interface HttpAnswer {
  readonly status: number
  /** the value of a header, by its name in lower case */
  header(name: string): string | null
  readonly body: AsyncIterable<Uint8Array>
  /** Lets go of the body; never throws. */
  discard(): void
}

/** Sends requests; follows no redirect. */
export interface HttpClient {
  request(request: HttpRequest): Promise<HttpAnswer>
  /** Closes what is open; never rejects. */
  close(): Promise<void>
}
