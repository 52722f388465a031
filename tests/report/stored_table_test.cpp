#include <priornet/uncertainty/errors.h>
#include <testing/throws.h>
#include "tool/report/table.h"

#include <cmath>

namespace priornet {
namespace {

Table compared_table() {
  Table table{"Cells", {"set", "model", "AUROC"}, {}, {"A note."}};
  table.add({"OMNIGLOT", "DNN", Cell::number(99.5, "99.50 ± 0.10 (98.7)", {99.4, 99.6, 98.7, false})});
  table.add({"OMNIGLOT", "DPN", Cell::number(0.6, "0.60", {0.5, 0.7, std::nullopt, true})});
  table.add({"SEMEION", "DPN", "-"});
  table.add({"SEMEION", "MCDP", Cell::number(std::nan(""), "nan")});
  return table;
}

TEST(StoredTable, ComesBackAsItWas) {
  const auto table = compared_table();
  const auto again = restore_table(store_table(table), "here");
  EXPECT_EQ(to_markdown(again), to_markdown(table));
  EXPECT_EQ(store_table(again), store_table(table));
  const auto& context = again.rows[0][2].context();
  ASSERT_TRUE(context);
  EXPECT_EQ(context->low, 99.4);
  EXPECT_EQ(context->published, 98.7);
  EXPECT_FALSE(context->lower_is_better);
  EXPECT_TRUE(again.rows[1][2].context()->lower_is_better);
  EXPECT_FALSE(again.rows[1][2].context()->published);
  EXPECT_FALSE(again.rows[2][2].is_number());
  EXPECT_TRUE(std::isnan(again.rows[3][2].value()));
}

TEST(StoredTable, SaysWhereAndWhyItCannotBeRead) {
  EXPECT_THROWS(DataError, restore_table("[1]", "r.json"),
                "r.json: should hold a table: [json.exception.type_error.304] cannot use at() with array");
  EXPECT_THROWS(DataError,
                restore_table(R"({"title": "", "columns": ["a", "b"], "rows": [["x"]], "notes": []})", "r.json"),
                "r.json: should hold a table: Table::add: row should be of 2 cells, found 1");
}

TEST(LongForm, HasALineForEveryNumber) {
  EXPECT_EQ(to_csv(long_form({compared_table()})),
            "table,row,column,value,low,high,published\n"
            "Cells,\"OMNIGLOT, DNN\",AUROC,99.5,99.4,99.6,98.7\n"
            "Cells,\"OMNIGLOT, DPN\",AUROC,0.6,0.5,0.7,\n"
            "Cells,\"SEMEION, MCDP\",AUROC,,,,\n");
}

}  // namespace
}  // namespace priornet
