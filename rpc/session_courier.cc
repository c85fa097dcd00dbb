#include "rpc/session_courier.h"

#include <asio/post.hpp>
#include <utility>

#include "engine/base/check.h"

namespace corail {

void SessionCourier::order(PushOrder order, Answered answered) {
  CORAIL_CHECK(static_cast<bool>(rail_), "orders go through the courier of their rail");
  ReadStripesRequest request;
  request.door = door_;
  request.order = order;
  Answered on_rail = [rail = rail_, answered = std::move(answered)](Result<PushReceipt> receipt) {
    asio::post(rail, [answered, receipt = std::move(receipt)] { answered(receipt); });
  };
  // In the order of this rail's calls, which is that of the orders' numbers.
  asio::post(home_, [session = session_, request, answered = std::move(on_rail)] {
    if (*session != nullptr) {
      (*session)->order_stripes(request, answered);
    } else {
      answered(Error(Errc::kClosed, Stage::kSubmit, "the session to the owner has ended"));
    }
  });
}

std::shared_ptr<PushCourier> SessionCourier::for_rail(const asio::any_io_executor& rail) {
  return std::make_shared<SessionCourier>(home_, session_, door_, rail);
}

}  // namespace corail
