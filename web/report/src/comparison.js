// How a number of ours compares with the published one. Published numbers are rounded to one decimal: numbers agree within
// half of that.
const rounding = 0.05;

export const isCompared = (cell) => typeof cell === "object" && typeof cell.published === "number" && cell.value !== null;

export function standing(cell) {
  const sign = cell.lower_is_better ? -1 : 1;
  const worst = sign * (sign > 0 ? cell.low : cell.high);
  const best = sign * (sign > 0 ? cell.high : cell.low);
  const published = sign * cell.published;
  if (worst > published + rounding) return "better";
  if (best < published - rounding) return "worse";
  return "equal";
}

export const marks = { better: "▲", equal: "●", worse: "▼" };

export const meanings = {
  better: "better: the whole interval lies beyond the published number",
  equal: "agrees: the interval holds the published number",
  worse: "worse: the interval does not reach the published number",
};

export function difference(cell) {
  const value = cell.value - cell.published;
  const size = Math.abs(value).toFixed(1);
  return size === "0.0" ? size : `${value < 0 ? "−" : "+"}${size}`;
}

// Cells whose published number most likely belongs to something else are counted apart from all others.
export function countStandings(tables, apart = false) {
  const counts = { better: 0, equal: 0, worse: 0 };
  for (const table of tables)
    for (const row of table.rows)
      for (const cell of row) if (isCompared(cell) && (cell.counted_apart ?? false) === apart) counts[standing(cell)] += 1;
  return counts;
}
