import { dataOf, type RestFailure } from "../project/request_error.ts";

/** The most rows of one answer; a project may be set to fewer. */
const PAGE_SIZE = 1_000;

interface RowsAnswer {
  readonly data: readonly unknown[] | null;
  readonly error: RestFailure | null;
  readonly count: number | null;
}

/**
 * All rows of a list, however many one answer may have.
 *
 * @param page Reads some rows, by the numbers of the first and the last, with their exact count; in
 * an order that is the same each time.
 * @throws RequestError
 */
export async function allRows<Row>(
  page: (from: number, to: number) => PromiseLike<RowsAnswer>,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  while (true) {
    const answer = await page(rows.length, rows.length + PAGE_SIZE - 1);
    const more = dataOf(answer) as readonly Row[];
    rows.push(...more);
    if (more.length === 0 || rows.length >= (answer.count ?? 0)) return rows;
  }
}
